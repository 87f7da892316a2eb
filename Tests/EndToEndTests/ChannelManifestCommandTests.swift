import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSamples
import Testing

/// Plays a simulated live channel from its DASH manifest.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct ChannelManifestCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("channel-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func body(of address: String) async throws -> String {
        let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: address), timeout: .seconds(60))
        #expect(response.status.code == 200)
        return String(buffer: try await response.body.collect(upTo: 4 << 20))
    }

    /// The number of segments of video and audio that the player has loaded.
    private var loadedSegmentCount: Int {
        let events = (try? String(contentsOfFile: path("events"), encoding: .utf8)) ?? ""
        return events.split(separator: "\n").count { $0.contains(#""event":"segmentLoaded""#) && $0.contains(".m4s") }
    }

    /// The loop has four seconds, so that each new segment follows a discontinuity.
    @Test(.timeLimit(.minutes(10))) func channelIsPlayedOverTheSeamsOfItsLoop() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let catalog = """
            [{"name": "loop", "channel": ["\(origin.address("fmp4/multivariant.m3u8"))"], "loop": true, "window": 20,
              "edits": [{"name": "duration", "value": "4"}]}]
            """
        try Data(catalog.utf8).write(to: folder.appendingPathComponent("catalog.json"))
        let server = try RunningProgram([
            "serve", "--port", "0", "--library", path("library"), "--catalog", path("catalog.json"),
        ])
        let base = String(try await server.match("(http://[0-9.:]+/)").dropLast())
        let streams = try await body(of: base + "/api/streams")
        let target = try #require(streams.firstMatch(of: /"manifestAddress":"([^"]+)"/)?.1)
        let manifest = try await body(of: base + String(target))
        #expect(manifest.contains(#"type="dynamic""#) && manifest.split(separator: "<Period ").count > 4)
        let player = try RunningProgram([
            "play", base + String(target), "--headless", "--quiet", "--selector", "fixed-lowest", "--checksums",
            path("frames"), "--events", path("events"),
        ])
        try await eventually("segments are loaded") { loadedSegmentCount >= 4 || !player.isRunning }
        let count = loadedSegmentCount
        // Some of these segments are in periods that the first manifest did not have.
        try await eventually("new periods are loaded") { loadedSegmentCount >= count + 8 || !player.isRunning }
        #expect(player.isRunning, "\(player.standardError)")
        player.send(SIGINT)
        #expect(try await player.finish() == 130, "\(player.standardError)")
        server.send(SIGTERM)
        #expect(try await server.finish() == 0)
        await origin.stop()
        let frames = try String(contentsOfFile: path("frames"), encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: ",").last }
        // A repetition has 120 frames. A frame that is shown twice was shown in two repetitions.
        #expect(Set(frames).count <= 120 && frames.count > Set(frames).count, "\(frames.count)")
    }
}
