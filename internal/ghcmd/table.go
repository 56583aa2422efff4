package ghcmd

import (
	"strings"
	"sync"
)

// A node is a command of gh. flags lists its flags as in package gitcmd: a
// letter, a comma and the long name; "=" marks one that takes a value.
type node struct {
	flags    string
	children []entry
}

type entry struct {
	name    string
	aliases string
	node    *node
}

// child finds a command by its name or one of gh's own other names for it.
func (n *node) child(name string) (string, *node) {
	for _, e := range n.children {
		if e.name == name || e.aliases != "" && strings.Contains(" "+e.aliases+" ", " "+name+" ") && !strings.Contains(name, " ") {
			return e.name, e.node
		}
	}
	return "", nil
}

// everywhere are the flags of gh's groups, known to the commands below them.
const everywhere = "R,repo= help version hostname="

func (n *node) each(f func(letter byte, long string, value bool) bool) {
	for _, spec := range [...]string{n.flags, everywhere} {
		for token := range strings.FieldsSeq(spec) {
			token, value := strings.CutSuffix(token, "=")
			var letter byte
			if len(token) > 2 && token[1] == ',' {
				letter, token = token[0], token[2:]
			}
			if !f(letter, token, value) {
				return
			}
		}
	}
}

func (n *node) long(letter byte) (name string) {
	n.each(func(l byte, long string, _ bool) bool {
		if l == letter {
			name = long
		}
		return name == ""
	})
	return name
}

// isBool reports a flag without a value. A flag that no table knows takes one:
// so does gh when it looks for the command.
func (n *node) isBool(name string) (yes bool) {
	n.each(func(_ byte, long string, value bool) bool {
		if long == name {
			yes = !value
			return false
		}
		return true
	})
	return yes
}

func leaf(name, aliases, flags string) entry { return entry{name, aliases, &node{flags: flags}} }

func group(name, aliases string, children ...entry) entry {
	return entry{name, aliases, &node{children: children}}
}

func isCommand(name string) bool {
	_, n := root().child(name)
	return n != nil
}

// root holds the commands that a guard may look at with their flags, and the
// names of the rest, after gh 2.83. Commands that no guard reads have no flags.
var root = sync.OnceValue(func() *node {
	return &node{children: []entry{
		group("pr", "",
			leaf("create", "new", "a,assignee= B,base= b,body= F,body-file= d,draft dry-run e,editor f,fill fill-first fill-verbose H,head= l,label= m,milestone= no-maintainer-edit p,project= recover= r,reviewer= T,template= t,title= w,web"),
			leaf("edit", "", "add-assignee= add-label= add-project= add-reviewer= B,base= b,body= F,body-file= m,milestone= remove-assignee= remove-label= remove-milestone remove-project= remove-reviewer= t,title="),
			leaf("comment", "", "b,body= F,body-file= create-if-none delete-last edit-last e,editor w,web yes"),
			leaf("review", "", "a,approve b,body= F,body-file= c,comment r,request-changes"),
			leaf("merge", "", "admin A,author-email= auto b,body= F,body-file= d,delete-branch disable-auto match-head-commit= m,merge r,rebase s,squash t,subject="),
			leaf("close", "", "c,comment= d,delete-branch"),
			leaf("reopen", "", "c,comment="),
			leaf("ready", "", "undo"),
			leaf("list", "ls", "app= a,assignee= A,author= B,base= d,draft H,head= q,jq= json= l,label= L,limit= S,search= s,state= t,template= w,web"),
			leaf("view", "", "c,comments q,jq= json= t,template= w,web"),
			leaf("diff", "", "color= name-only patch w,web"),
			leaf("checkout", "co", "b,branch= detach f,force recurse-submodules"),
			leaf("checks", "", "fail-fast i,interval= q,jq= json= required t,template= watch w,web"),
			leaf("status", "", "c,conflict-status q,jq= json= t,template="),
			leaf("lock", "", "r,reason="),
			leaf("unlock", "", ""),
			leaf("revert", "", "b,body= F,body-file= d,draft t,title="),
			leaf("update-branch", "", "rebase"),
		),
		group("issue", "",
			leaf("create", "new", "a,assignee= b,body= F,body-file= e,editor l,label= m,milestone= p,project= recover= T,template= t,title= w,web"),
			leaf("edit", "", "add-assignee= add-label= add-project= b,body= F,body-file= m,milestone= remove-assignee= remove-label= remove-milestone remove-project= t,title="),
			leaf("comment", "", "b,body= F,body-file= create-if-none delete-last edit-last e,editor w,web yes"),
			leaf("close", "", "c,comment= duplicate-of= r,reason="),
			leaf("reopen", "", "c,comment="),
			leaf("delete", "", "confirm yes"),
			leaf("develop", "", "b,base= branch-repo= c,checkout l,list n,name="),
			leaf("list", "ls", "app= a,assignee= A,author= q,jq= json= l,label= L,limit= mention= m,milestone= S,search= s,state= t,template= w,web"),
			leaf("view", "", "c,comments q,jq= json= t,template= w,web"),
			leaf("status", "", "q,jq= json= t,template="),
			leaf("lock", "", "r,reason="), leaf("unlock", "", ""),
			leaf("pin", "", ""), leaf("unpin", "", ""), leaf("transfer", "", ""),
		),
		leaf("api", "", "cache= F,field= H,header= i,include input= q,jq= X,method= paginate p,preview= f,raw-field= silent slurp t,template= verbose"),
		group("auth", "",
			leaf("token", "", "h,hostname= u,user= secure-storage"),
			leaf("status", "", "a,active h,hostname= t,show-token q,jq= json= template="),
			leaf("login", "", "c,clipboard p,git-protocol= h,hostname= insecure-storage s,scopes= skip-ssh-key w,web with-token"),
			leaf("logout", "", "h,hostname= u,user="), leaf("refresh", "", "c,clipboard h,hostname= insecure-storage r,remove-scopes= reset-scopes s,scopes="),
			leaf("setup-git", "", "f,force h,hostname="), leaf("switch", "", "h,hostname= u,user="),
		),
		group("repo", "",
			leaf("create", "new", "add-readme c,clone d,description= disable-issues disable-wiki g,gitignore= h,homepage= include-all-branches internal l,license= private public push r,remote= s,source= t,team= p,template="),
			leaf("delete", "", "confirm yes"),
			leaf("view", "", "b,branch= q,jq= json= t,template= w,web"),
			leaf("edit", "", "accept-visibility-change-consequences add-topic= allow-forking allow-update-branch default-branch= delete-branch-on-merge d,description= enable-auto-merge enable-discussions enable-issues enable-merge-commit enable-projects enable-rebase-merge enable-squash-merge enable-wiki h,homepage= remove-topic= template visibility="),
			leaf("archive", "", "y,yes confirm"), leaf("unarchive", "", "y,yes confirm"), leaf("rename", "", "y,yes confirm"),
			leaf("sync", "", "b,branch= force s,source="),
			leaf("clone", "", "no-upstream u,upstream-remote-name="), leaf("fork", "", "clone default-branch-only fork-name= org= remote remote-name="),
			leaf("list", "ls", ""), leaf("set-default", "", ""),
			group("deploy-key", "", leaf("add", "", "w,allow-write t,title="), leaf("delete", "", ""), leaf("list", "ls", "")),
			group("autolink", "", leaf("create", "new", ""), leaf("delete", "", ""), leaf("list", "ls", ""), leaf("view", "", "")),
		),
		group("release", "",
			leaf("create", "new", "discussion-category= d,draft fail-on-no-commits generate-notes latest n,notes= F,notes-file= notes-from-tag notes-start-tag= p,prerelease target= t,title= verify-tag"),
			leaf("edit", "", "discussion-category= draft latest n,notes= F,notes-file= prerelease tag= target= t,title= verify-tag"),
			leaf("delete", "", "cleanup-tag y,yes"), leaf("delete-asset", "", "y,yes"),
			leaf("list", "ls", ""), leaf("view", "", "q,jq= json= t,template= w,web"), leaf("upload", "", "clobber"), leaf("download", "", ""),
			leaf("verify", "", ""), leaf("verify-asset", "", ""),
		),
		group("alias", "", leaf("set", "", "clobber s,shell"), leaf("delete", "", "all"), leaf("list", "ls", ""), leaf("import", "", "clobber")),
		group("config", "", leaf("get", "", "h,host="), leaf("set", "", "h,host="), leaf("list", "ls", "h,host="), leaf("clear-cache", "", "")),
		group("secret", "", leaf("list", "ls", ""), leaf("set", "", ""), leaf("delete", "remove", "")),
		group("variable", "", leaf("list", "ls", ""), leaf("set", "", ""), leaf("get", "", ""), leaf("delete", "remove", "")),
		group("workflow", "", leaf("list", "ls", ""), leaf("view", "", ""), leaf("run", "", "f,raw-field= F,field= json r,ref="), leaf("enable", "", ""), leaf("disable", "", "")),
		group("run", "", leaf("list", "ls", ""), leaf("view", "", ""), leaf("rerun", "", ""), leaf("watch", "", ""), leaf("cancel", "", ""), leaf("download", "", ""), leaf("delete", "", "")),
		group("label", "", leaf("create", "", "c,color= d,description= f,force"), leaf("edit", "", "c,color= d,description= n,name="), leaf("delete", "", "confirm yes"), leaf("list", "ls", ""), leaf("clone", "", "f,force")),
		group("gist", "", leaf("create", "new", "d,desc= f,filename= p,public w,web"), leaf("edit", "", ""), leaf("delete", "", ""), leaf("list", "ls", ""), leaf("view", "", ""), leaf("clone", "", ""), leaf("rename", "", "")),
		leaf("browse", "", ""), leaf("codespace", "cs", ""), leaf("org", "", ""), leaf("project", "", ""), leaf("cache", "", ""),
		leaf("attestation", "at", ""), leaf("completion", "", ""), leaf("extension", "extensions ext", ""), leaf("gpg-key", "", ""),
		leaf("preview", "", ""), leaf("ruleset", "rs", ""), leaf("search", "", ""), leaf("ssh-key", "", ""), leaf("status", "", ""), leaf("help", "", ""), leaf("version", "", ""), leaf("agent-task", "agent-tasks agent agents", ""),
	}}
})
