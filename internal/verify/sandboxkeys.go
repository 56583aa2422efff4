package verify

// sandboxKeys are the members of "sandbox" that the client's published schema
// has (2.1.332), as dotted paths without the first step. What stands below one
// that ends in "*" is free.
func sandboxKeys() []string {
	return []string{
		"enabled", "failIfUnavailable", "autoAllowBashIfSandboxed", "allowUnsandboxedCommands", "excludedCommands",
		"ignoreViolations.*", "enableWeakerNestedSandbox", "allowNestedUserNamespaces", "enableWeakerNetworkIsolation",
		"allowAppleEvents", "ripgrep.command", "ripgrep.args", "bwrapPath", "socatPath",
		"filesystem.allowWrite", "filesystem.denyWrite", "filesystem.denyRead", "filesystem.allowRead",
		"filesystem.allowManagedReadPathsOnly", "filesystem.disabled",
		"network.allowedDomains", "network.deniedDomains", "network.strictAllowlist", "network.allowManagedDomainsOnly",
		"network.allowUnixSockets", "network.allowAllUnixSockets", "network.allowLocalBinding", "network.allowMachLookup",
		"network.httpProxyPort", "network.socksProxyPort", "network.tlsTerminate.caCertPath", "network.tlsTerminate.caKeyPath",
		"credentials.files", "credentials.envVars", "credentials.allowPlaintextInject", "credentials.awsPairs",
		"credentials.sigv4.presigned", "credentials.sigv4.sigv4a", "credentials.sigv4.streaming",
	}
}

// unconfirmedKeys are named in public lists and not in the schema.
func unconfirmedKeys() []string {
	return []string{"allowPty", "allowGitConfig", "enabledPlatforms"}
}
