import MediaTiming
import NetworkConditioning

// The code of the article "Asking a link when bytes arrive".

guard let profile = LinkProfile(preset: "3G") else { fatalError("3G is a preset") }

var link = LinkModel(profile, startingAt: .zero)
var (flow, now, rest) = (LinkModel.Flow(), Duration.zero, 500_000)
var arrival = Duration.zero
while rest > 0 {
    let size = min(rest, link.pieceSize(.down, at: now))
    // The first piece is there when the request begins; each other as soon as the one before is gone.
    let available: Duration? = rest == 500_000 ? .zero : nil
    guard let passage = link.send(size, .down, of: &flow, availableAt: available, at: now) else { break }
    (now, arrival) = (passage.leaves, passage.arrives)
    rest -= size
}
print("500 kB have arrived after \(arrival)")

let periods = [
    LinkTrace.Period(duration: .seconds(10), bandwidth: BitRate(bitsPerSecond: 4_000_000), latency: .milliseconds(40)),
    LinkTrace.Period(duration: .seconds(5), bandwidth: BitRate(bitsPerSecond: 300_000), latency: .milliseconds(200)),
]
let train = LinkProfile(
    name: "Train",
    trace: LinkTrace(periods),
    outages: [LinkProfile.Outage(start: .seconds(60), duration: .seconds(8), interval: .seconds(120))]
)
link.change(to: train, at: now)

precondition(arrival > .seconds(5) && arrival < .seconds(6))
precondition(link.profile.trace?.meanBandwidth.bitsPerSecond == 2_766_666)
