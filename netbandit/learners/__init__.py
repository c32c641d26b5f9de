"""What an agent does next, what it shares, and what it makes of what it hears."""
