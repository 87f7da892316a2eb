import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// A simulated origin server whose streams are played by the real engine.
final class PlayedOrigin: Sendable {
    static let origin = "https://origin.example/"

    let simulation = Simulation()
    let transport: ScriptedTransport
    /// The delay of each response.
    private let latency: Duration

    convenience init(_ texts: [String: String], latency: Duration = .zero) {
        self.init(responses: texts.mapValues { [.text($0)] }, latency: latency)
    }

    init(responses: [String: [ScriptedTransport.Response]], latency: Duration = .zero) {
        transport = ScriptedTransport(responses, time: simulation)
        self.latency = latency
    }

    var environment: Player.Environment {
        let simulation = simulation
        let transport = DistantTransport(base: transport, latency: latency, time: simulation)
        return Player.Environment(
            time: simulation,
            makeLoading: { address, options in
                let authorized = options.authorizing(transport, for: address, time: simulation)
                return ResourceLoader(authorized, time: simulation, jitter: { 0 })
            },
            canDecode: { !$0.hasPrefix("vvc1") },
            makeSessionID: { "session" },
            date: { .seconds(1_000_000) + simulation.now }
        )
    }

    /// Returns a player item for a stream of this origin.
    func item(_ path: String = "main.m3u8", options: AssetOptions = AssetOptions()) -> PlayerItem {
        PlayerItem(asset: Asset(ResourceAddress(Self.origin + path), options: options, environment: environment))
    }

    /// Runs a test body in simulated time.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable @concurrent (PlayedOrigin) async throws -> Result
    ) async throws -> Result {
        try await simulation.run { try await body(self) }
    }

    /// Waits until a state meets the condition, and records an issue if none does within an hour of simulated time.
    func wait<State>(
        for states: StateUpdates<State>,
        sourceLocation: SourceLocation = #_sourceLocation,
        until condition: @escaping @Sendable (State) -> Bool
    ) async {
        let simulation = simulation
        let came = await withTaskGroup(of: Bool.self) { group in
            group.addTask { await states.first(where: condition) != nil }
            group.addTask {
                try? await simulation.sleep(for: .seconds(3600))
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        #expect(came, sourceLocation: sourceLocation)
    }

    /// The names of the requested media files, in order of request.
    var requestedMedia: [String] {
        transport.requestedAddresses.filter { $0.hasSuffix(".ts") }.map { String($0.dropFirst(Self.origin.count)) }
    }
}

extension PlayedOrigin {
    /// Returns a media playlist of segments that are named by a prefix and their numbers.
    ///
    /// The duration of a segment is given in seconds.
    static func media(_ prefix: String, count: Int, duration: Int = 6, ended: Bool = true) -> String {
        let segments = (0..<count).map { "#EXTINF:\(duration),\n\(prefix)\($0).ts\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:\(duration)\n" + segments + (ended ? "#EXT-X-ENDLIST\n" : "")
    }

    /// Returns the playlists and segments of a presentation with two variants and two audio languages.
    ///
    /// Each segment lasts 6 s.
    static func film(_ name: String = "main", count: Int = 10, codec: String = "avc1.42c01e") -> [String: String] {
        let prefix = name == "main" ? "" : name
        var texts = [
            "\(origin)\(name).m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,\
            URI="\(prefix)en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",AUTOSELECT=YES,URI="\(prefix)ko.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="\(codec),mp4a.40.2",RESOLUTION=640x360,AUDIO="a"
            \(prefix)low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2000000,CODECS="\(codec),mp4a.40.2",RESOLUTION=1280x720,AUDIO="a"
            \(prefix)high.m3u8
            """
        ]
        for rendition in ["low", "high", "en", "ko"] {
            texts["\(origin)\(prefix)\(rendition).m3u8"] = media(prefix + rendition, count: count)
            for index in 0..<count {
                texts["\(origin)\(prefix)\(rendition)\(index).ts"] = "media \(rendition) \(index)"
            }
        }
        return texts
    }
}

/// A transport that delays each request by a latency.
private struct DistantTransport: Transport {
    let base: any Transport
    let latency: Duration
    let time: any TimeSource

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        if latency > .zero { try await time.sleep(for: latency) }
        return try await base.send(request)
    }
}
