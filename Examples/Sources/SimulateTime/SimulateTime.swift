import MediaTiming
import MediaTransport
import MillstreamTesting
import NetworkConditioning
import ResourceAddressing

// The code of the landing page of MillstreamTesting.

guard let profile = LinkProfile(preset: "3G") else { fatalError("3G is a preset") }

let simulation = Simulation()
try await simulation.run {
    let origin = SyntheticOrigin(texts: [:], sizes: ["https://example.com/0.ts": ByteCount(500_000)], time: simulation)
    let link = SimulatedLink(profile, to: origin, time: simulation)
    let loader = ResourceLoader(link, time: simulation)
    let request = TransportRequest(ResourceAddress("https://example.com/0.ts"), kind: .segment)
    let loaded = try await loader.load(request)
    print(loaded.bytes.count, "bytes after", simulation.now)  // more than 5 seconds, computed at once
}

precondition(simulation.now > .seconds(5) && simulation.now < .seconds(7))
