def one(candidate, device, probe):
    return (candidate
