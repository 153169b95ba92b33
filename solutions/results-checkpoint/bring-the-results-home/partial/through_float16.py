# NumPy knows float16, so the weights go that way; the cast afterwards brings no digit back.
# caught-by: test_the_weights_are_right
import numpy as np
import torch


def collect(model, loader, device):
    batches = []
    with torch.no_grad():
        for x, y in loader:
            logits = model(x.to(device))
            batches.append((logits.float().softmax(1).cpu().numpy(), y.numpy()))
        weights = {name: each.half().cpu().numpy().astype("float32") for name, each in model.named_parameters()}
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
