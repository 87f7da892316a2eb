import MediaTiming
import NetworkConditioning

// The code of the article "Modeling a link".

guard let profile = LinkProfile(preset: "3G") else { fatalError("3G is a preset") }

var link = LinkModel(profile, startingAt: .zero)
var (flow, now, remaining) = (LinkModel.Flow(), Duration.zero, 500_000)
var arrival = Duration.zero
while remaining > 0 {
    let size = min(remaining, link.chunkSize(.down, at: now))
    // The first chunk is sent when the request begins, each other one when the previous chunk has left the bottleneck.
    let available: Duration? = remaining == 500_000 ? .zero : nil
    guard let transmission = link.send(size, .down, of: &flow, availableAt: available, at: now) else { break }
    (now, arrival) = (transmission.sendEnd, transmission.arrival)
    remaining -= size
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
