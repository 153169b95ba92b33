"""All that runs beside a stranger's code. Started with `-m`, never imported by the rest; nothing here is believed."""
