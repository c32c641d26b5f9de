"""What may leave an agent, and how much has been spent."""
