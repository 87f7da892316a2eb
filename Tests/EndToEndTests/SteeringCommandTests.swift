import Foundation
import TestSamples
import Testing

/// Tests content steering with `millstream play` and real servers.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct SteeringCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("steering-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func write(_ text: String, to name: String) throws {
        try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
    }

    /// The steering server declares a clone of the pathway on another server, and prefers it.
    @Test(.timeLimit(.minutes(5))) func segmentsAreLoadedFromTheCloneThatTheServerPrefers() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let samples = try #require(Samples.directory)
        let (first, second) = (try await RecordingOrigin(samples), try await RecordingOrigin(samples))
        let steering = try await RecordingOrigin(folder)
        try write(
            """
            #EXTM3U
            #EXT-X-CONTENT-STEERING:SERVER-URI="steer.json",PATHWAY-ID="one"
            #EXT-X-STREAM-INF:BANDWIDTH=999158,CODECS="avc1.4d401e,mp4a.40.2",RESOLUTION=640x360,PATHWAY-ID="one"
            \(first.address("ts/360p/media.m3u8"))

            """,
            to: "main.m3u8"
        )
        try write(
            """
            {"VERSION": 1, "TTL": 60, "PATHWAY-PRIORITY": ["two", "one"], "PATHWAY-CLONES": [
              {"BASE-ID": "one", "ID": "two", "URI-REPLACEMENT": {"HOST": "127.0.0.1:\(second.port)"}}
            ]}
            """,
            to: "steer.json"
        )
        let program = try RunningProgram([
            "play", steering.address("main.m3u8"), "--no-decode", "--speed", "max", "--quiet", "--events", "-",
        ])
        let status = try await program.finish()
        for origin in [first, second, steering] { await origin.stop() }
        #expect(status == 0, "\(program.standardError)")
        let events = try program.standardOutput.split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let changes = events.filter { $0["event"] as? String == "pathwayChange" }
        #expect(changes.map { $0["from"] as? String } == ["one"] && changes.map { $0["to"] as? String } == ["two"])
        let requests = events.filter { $0["event"] as? String == "request" }.compactMap { $0["url"] as? String }
        #expect(requests.contains { $0.hasPrefix(steering.address("steer.json?_HLS_pathway=%22one%22")) })
        let loaded = events.filter { $0["event"] as? String == "segmentLoaded" }.compactMap { $0["url"] as? String }
        #expect(loaded.last?.hasPrefix("http://127.0.0.1:\(second.port)/ts/360p/") == true)
        #expect(second.paths.contains { $0.hasSuffix("360p/media.m3u8") })
        #expect(events.contains { $0["event"] as? String == "end" })
    }
}
