# Runs guards written in Python for agent-guard. It reads one JSON request a line
# and answers in kind; while a guard runs, members of ctx are asked for the same
# way. Guards get none of these streams: what they print goes nowhere.
import binascii
import json
import os
import sys

if os.name == "posix":
    # Guards run in a child, so that ending "the parent" ends only this process.
    child = os.fork()
    if child:
        try:
            os.waitpid(child, 0)
        except BaseException:
            pass
        os._exit(0)
    try:
        import _signal
        import resource

        # Should the engine itself be killed, nothing is left behind for long.
        _signal.alarm(60)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    except Exception:
        pass

_requests = os.fdopen(os.dup(0), "rb")
_answers = os.dup(1)
_null = os.open(os.devnull, os.O_RDWR)
os.dup2(_null, 0)
os.dup2(_null, 1)
os.dup2(_null, 2)
sys.dont_write_bytecode = True

_LIMIT = 64 * 1024


def _write(value):
    data = json.dumps(value).encode("ascii") + b"\n"
    while data:
        data = data[os.write(_answers, data) :]


def _read():
    line = _requests.readline()
    if not line:
        os._exit(0)
    return json.loads(line.decode("utf-8"))


def _ask(member, *args):
    _write({"ask": member, "args": args})
    answer = _read()
    if answer.get("error"):
        raise ValueError(member + ": " + answer["error"])
    return answer.get("value")


class _Segment:
    def __init__(self, data):
        self.argv = data["argv"]
        self.raw = data["raw"]
        self.env = data["env"]

    def override(self, *names):
        return bool(_ask("override", *names))


class _Context:
    def __init__(self, data):
        self.seg = _Segment(data)
        self.cwd = data["cwd"]
        self.ready_label = data["ready_label"]

    @property
    def argv(self):
        return self.seg.argv

    @property
    def raw(self):
        return self.seg.raw

    @property
    def env(self):
        return self.seg.env

    @property
    def message(self):
        return _ask("message")

    @property
    def refspecs(self):
        return _ask("refspecs")

    @property
    def branch(self):
        return _ask("branch")

    def override(self, *names):
        return self.seg.override(*names)

    def gh_subcommand(self):
        pair = _ask("gh_subcommand")
        return tuple(pair) if pair else None

    def git_subcommand(self):
        return _ask("git_subcommand")

    def opt(self, short, long):
        return _ask("opt", short, long)

    def opts(self, short, long):
        return _ask("opts", short, long)

    def gh_body(self, include_title=False, read_files=True):
        return _ask("gh_body", bool(include_title), bool(read_files))

    def mentions(self, text):
        return _ask("mentions", text)

    def positional_after(self, sub_token):
        return _ask("positional_after", sub_token)

    def repo_flag(self):
        return _ask("repo_flag")

    def run(self, args):
        return _ask("run", [str(a) for a in args])

    def gh_api_posted_text(self):
        pair = _ask("gh_api_posted_text")
        return (pair[0], pair[1]) if pair else None

    def gh_input_json(self):
        text = _ask("gh_input_text")
        try:
            return json.loads(text) if text else None
        except ValueError:
            return None

    def target_repo_owner(self):
        return _ask("target_repo_owner")

    def committed_config_value(self, filename, key):
        text = _ask("committed_file", ".apache-magpie-overrides/" + filename)
        for line in (text or "").splitlines():
            cells = [c.strip() for c in line.strip().strip("|").split("|")]
            if len(cells) >= 2 and cells[0] == "`" + key + "`" and cells[1].count("`") >= 2:
                return cells[1].split("`")[1].strip() or None
        return None


def _plain(value, depth=0):
    if depth > 8:
        raise ValueError("the value is nested too deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        # A surrogate has no place in UTF-8.
        return str.__str__(value)[:_LIMIT].encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, int):
        return int(value) if abs(value) < 1 << 53 else str(type(value))
    if isinstance(value, dict):
        return {str(k)[:200]: _plain(v, depth + 1) for k, v in list(value.items())[:1000]}
    if isinstance(value, (list, tuple)):
        return [_plain(v, depth + 1) for v in value[:10000]]
    raise TypeError("guard returned %s, not a string or None" % type(value).__name__)


_guards = {}


def _load(request):
    # A module of its own, known by its name, as an import would make it.
    module = type(sys)("guard_%d" % request["id"])
    sys.modules[module.__name__] = module
    module.__file__ = request["path"]
    namespace = module.__dict__
    code = compile(binascii.a2b_base64(request["source"]), request["path"], "exec", dont_inherit=True)
    exec(code, namespace)
    if not callable(namespace.get("guard")):
        raise TypeError("defines no function guard(ctx)")
    _guards[request["id"]] = namespace


def _call(request):
    namespace = _guards[request["id"]]
    data = request["ctx"]
    triggers = namespace.get("TRIGGERS")
    if data["computed"] and triggers and not set(triggers) & set(data["kinds"]):
        return None
    result = namespace["guard"](_Context(data))
    if result is None or result is False or isinstance(result, str):
        return _plain(result)
    if isinstance(result, dict):
        return _plain(result)
    raise TypeError("guard returned %s, not a string or None" % type(result).__name__)


def _cases(request):
    return _plain(_guards[request["id"]].get("TESTS"))


def _explain(error, path):
    where = ""
    frame = error.__traceback__
    while frame:
        if frame.tb_frame.f_code.co_filename == path:
            where = "%s:%d: " % (path, frame.tb_lineno)
        frame = frame.tb_next
    if isinstance(error, SyntaxError) and error.filename == path:
        where = "%s:%s: " % (path, error.lineno)
    return (where + type(error).__name__ + ": " + str(getattr(error, "msg", None) or error))[:2000]


_paths = {}
_serve = {"load": _load, "call": _call, "cases": _cases}
while True:
    _request = _read()
    _paths.setdefault(_request["id"], _request.get("path", ""))
    try:
        _answer = {"done": True, "value": _serve[_request["op"]](_request)}
    except BaseException as _error:
        try:
            _answer = {"done": True, "error": _explain(_error, _paths[_request["id"]])}
        except BaseException:
            _answer = {"done": True, "error": "failed"}
    _write(_answer)
