# Reads the loader again for the labels, and finds it empty.
# caught-by: test_the_labels_are_right
import numpy as np
import torch


def collect(model, loader, device):
    batches = []
    with torch.no_grad():
        for x, _ in loader:
            logits = model(x.to(device))
            batches.append(logits.float().softmax(1).cpu().numpy())
        weights = {name: each.float().cpu().numpy().copy() for name, each in model.named_parameters()}
    probabilities, labels = np.concatenate(batches), np.concatenate([y.numpy() for _, y in loader])

    predicted = probabilities.argmax(1)
    confusion = np.zeros((probabilities.shape[1],) * 2, dtype=np.int64)
    np.add.at(confusion, (labels, predicted), 1)
    metrics = {
        "samples": len(labels),
        "accuracy": float((labels == predicted).mean()),
        "confusion": confusion.tolist(),
    }
    return probabilities, labels, weights, metrics
