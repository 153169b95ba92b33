# Each number is read by itself.
# only: virtual, cuda, mps, xpu
# caught-by: test_trips_are_few
import numpy as np
import torch


def collect(model, loader, device):
    batches = []
    with torch.no_grad():
        for x, y in loader:
            logits = model(x.to(device))
            rows = [[each.item() for each in row] for row in logits.float().softmax(1)]
            batches.append((np.array(rows, dtype=np.float32), y.numpy()))
        weights = {name: each.float().cpu().numpy().copy() for name, each in model.named_parameters()}
    probabilities, labels = (np.concatenate(each) for each in zip(*batches))

    predicted = probabilities.argmax(1)
    confusion = np.zeros((probabilities.shape[1],) * 2, dtype=np.int64)
    np.add.at(confusion, (labels, predicted), 1)
    metrics = {
        "samples": len(labels),
        "accuracy": float((labels == predicted).mean()),
        "confusion": confusion.tolist(),
    }
    return probabilities, labels, weights, metrics
