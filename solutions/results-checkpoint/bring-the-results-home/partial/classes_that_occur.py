# The confusion matrix has room for the classes that occur; the rare one has no samples tonight.
# caught-by: test_the_metrics_are_right
import numpy as np
import torch


def collect(model, loader, device):
    batches = []
    with torch.no_grad():
        for x, y in loader:
            logits = model(x.to(device))
            batches.append((logits.float().softmax(1).cpu().numpy(), y.numpy()))
        weights = {name: each.float().cpu().numpy().copy() for name, each in model.named_parameters()}
    probabilities, labels = (np.concatenate(each) for each in zip(*batches))

    predicted = probabilities.argmax(1)
    confusion = np.zeros((max(labels.max(), predicted.max()) + 1,) * 2, dtype=np.int64)
    np.add.at(confusion, (labels, predicted), 1)
    metrics = {
        "samples": len(labels),
        "accuracy": float((labels == predicted).mean()),
        "confusion": confusion.tolist(),
    }
    return probabilities, labels, weights, metrics
