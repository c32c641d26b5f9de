"""What a study leaves behind: folders, tables, statistics, comparisons."""
