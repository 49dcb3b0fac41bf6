"""Where the passages stand in a prompt: `locate`."""
