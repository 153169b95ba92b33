# The logits are detached; the sum of the losses refers to the graphs of all batches.
# caught-by: test_memory_stays_flat
import torch
import torch.nn.functional as F


def evaluate(model, loader, device):
    training = model.training
    model.eval()
    total, logits = 0.0, []
    try:
        for x, y in loader:
            output = model(x.to(device))
            total += F.cross_entropy(output, y.to(device), reduction="sum")
            logits.append(output.detach().cpu())
    finally:
        model.train(training)
    logits = torch.cat(logits)
    return total.item() / len(logits), logits
