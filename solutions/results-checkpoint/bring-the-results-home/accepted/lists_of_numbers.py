# Python's lists share no memory with anything, and JSON knows them.
import numpy as np


def collect(model, loader, device):
    pairs = [pair for x, y in loader for pair in zip(model(x.to(device)).float().softmax(1).tolist(), y.tolist())]
    rows, labels = zip(*pairs)
    weights = {name: np.array(each.tolist(), dtype="float32") for name, each in model.named_parameters()}

    taken = [(label, row.index(max(row))) for row, label in pairs]
    kinds = range(len(max(rows)))
    metrics = {
        "samples": len(taken),
        "accuracy": sum(label == guess for label, guess in taken) / len(taken),
        "confusion": [[taken.count((i, j)) for j in kinds] for i in kinds],
    }
    return np.array(rows, dtype="float32"), np.array(labels), weights, metrics
