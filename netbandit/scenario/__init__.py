"""What the user wrote: validated, frozen, each error with its place."""
