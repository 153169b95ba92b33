# The mean of the batches: the samples of a small last batch count more.
# caught-by: test_the_loss_is_the_mean_over_samples
import torch
import torch.nn.functional as F


def evaluate(model, loader, device):
    training = model.training
    model.eval()
    total, logits = 0.0, []
    try:
        with torch.no_grad():
            for x, y in loader:
                output = model(x.to(device))
                total += F.cross_entropy(output, y.to(device)).item()
                logits.append(output.cpu())
    finally:
        model.train(training)
    return total / len(loader), torch.cat(logits)
