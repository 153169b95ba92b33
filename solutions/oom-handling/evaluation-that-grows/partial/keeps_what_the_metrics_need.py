# No graph, and the logits go home; what the metrics might need later stays on the device, six megabytes for each batch.
# caught-by: test_it_fits_in_the_budget
# only: cuda, virtual
import torch
import torch.nn.functional as F


def evaluate(model, loader, device):
    training = model.training
    model.eval()
    total, logits, kept = 0.0, [], []
    try:
        with torch.no_grad():
            for x, y in loader:
                output, y = model(x.to(device)), y.to(device)
                total += F.cross_entropy(output, y, reduction="sum").item()
                logits.append(output.cpu())
                best, order = output.sort(dim=1, descending=True)
                kept.append((output.softmax(1).double(), output.log_softmax(1).double(), best.double(), order))
                kept.append((F.one_hot(y, output.shape[1]), order.argsort(dim=1)))
    finally:
        model.train(training)
    logits = torch.cat(logits)
    return total / len(logits), logits
