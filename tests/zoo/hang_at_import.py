# Loops at import.
while True: pass
