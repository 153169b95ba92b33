# Returns a list that holds itself.


def double(x):
    result = []
    result.append(result)
    return result
