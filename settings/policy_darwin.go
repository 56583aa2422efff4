package settings

func osPolicies() []Policy { return nil }
