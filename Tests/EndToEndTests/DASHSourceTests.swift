import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSamples
import Testing

/// Plays, serves, edits and downloads DASH presentations with the program.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct DASHSourceTests {
    private static let samples = ["dash-number", "dash-timeline", "dash-ondemand"]

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dash-\(UUID())")

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments).result()
    }

    /// Plays a source, and returns its metrics.
    private func play(_ source: String, _ options: String...) async throws -> [String: Any] {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = path("metrics-\(UUID()).json")
        let result = try await run(["play", source, "--quiet", "--metrics", file] + options)
        #expect(result.status == 0, "\(result.errors)")
        let data = try Data(contentsOf: URL(fileURLWithPath: file))
        let metrics = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(metrics["errors"] as? Int == 0)
        return metrics
    }

    private func watched(_ metrics: [String: Any]) throws -> Double {
        try #require(metrics["watchedDuration"] as? Double)
    }

    private func withServer(
        _ options: [String] = [],
        _ body: (RecordingOrigin, _ server: String) async throws -> Void
    ) async throws {
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let server = try RunningProgram(
            ["serve", "--port", "0", "--library", path("library"), "--allow-host", "127.0.0.1"] + options
        )
        let address = try await server.match("(http://[0-9.:]+/)")
        try await body(origin, address)
        server.send(SIGTERM)
        #expect(try await server.finish() == 0)
        await origin.stop()
    }

    private func body(of address: String) async throws -> (status: Int, text: String) {
        let client = HTTPClient()
        do {
            let response = try await client.execute(HTTPClientRequest(url: address), timeout: .seconds(30))
            let body = try await response.body.collect(upTo: 1 << 20)
            try await client.shutdown()
            return (Int(response.status.code), String(buffer: body))
        } catch {
            try await client.shutdown()
            throw error
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: samples) func presentationIsPlayedToItsEnd(
        _ sample: String
    ) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let metrics = try await play(origin.address("\(sample)/manifest.mpd"), "--no-decode", "--speed", "max")
        #expect(try abs(watched(metrics) - 40) < 0.5)
        #expect(metrics["stallCount"] as? Int == 0)
        #expect(origin.paths.filter { $0.hasSuffix(".mpd") }.count == 1)
        #expect(origin.paths.allSatisfy { $0.contains("\(sample)/") && !$0.contains("m3u8") }, "\(origin.paths)")
        let refused = try await run(["play", origin.address("\(sample)/manifest.mpd"), "--no-decode", "--no-dash"])
        await origin.stop()
        #expect(refused.status == 2 && refused.errors.contains("(needs-translation)"), "\(refused.errors)")
        #expect(refused.errors.contains("hint: the DASH bridge"), "\(refused.errors)")
    }

    #if Playback
    @Test(.timeLimit(.minutes(5)), arguments: samples) func allFramesAreDecoded(_ sample: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = try #require(Samples.directory).appendingPathComponent("\(sample)/manifest.mpd").path
        let metrics = try await play(source, "--headless", "--speed", "max", "--max-height", "360")
        #expect(metrics["decodedFrames"] as? Int == 1_200)
        #expect(try abs(watched(metrics) - 40) < 0.5)
    }
    #endif

    @Test(.timeLimit(.minutes(10)), arguments: samples) func presentationIsServedToPlayers(
        _ sample: String
    ) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withServer { origin, server in
            let address = "\(server)play.m3u8?url=\(origin.address("\(sample)/manifest.mpd"))"
            let whole = try await play(address, "--no-decode", "--speed", "max")
            #expect(try abs(watched(whole) - 40) < 0.5)
            let edited = try await play(address + "&duration=12", "--no-decode", "--speed", "max")
            #expect(try abs(watched(edited) - 12) < 0.5)
            #expect(origin.paths.allSatisfy { $0.contains("\(sample)/") && !$0.contains("m3u8") }, "\(origin.paths)")
            let proxied = try await body(of: address + "&segments=proxy")
            #expect(proxied.status == 200 && proxied.text.contains("millstream-playlist"))
        }
    }

    @Test(.timeLimit(.minutes(10))) func bridgeOfTheServerCanBeTurnedOff() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withServer(["--no-dash"]) { origin, server in
            let response = try await body(of: "\(server)play.m3u8?url=\(origin.address("dash-number/manifest.mpd"))")
            #expect(response.status == 415 && response.text.contains("DASH bridge"), "\(response)")
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: samples) func downloadIsPlayedWithoutTheOrigin(
        _ sample: String
    ) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let source = origin.address("\(sample)/manifest.mpd")
        let download = ["download", source, "--library", path("library"), "--quiet"]
        let refused = try await run(download + ["--no-dash"])
        #expect(refused.status == 2 && refused.errors.contains("DASH bridge"), "\(refused.errors)")
        let result = try await run(download + ["--json"])
        #expect(result.status == 0 && result.output.contains(#""event":"completed""#), "\(result.errors)")
        await origin.stop()
        let packages = folder.appendingPathComponent("library/packages")
        let package = try #require(try FileManager.default.contentsOfDirectory(atPath: packages.path).first)
        let metrics = try await play(
            packages.appendingPathComponent(package).path,
            "--no-decode",
            "--speed",
            "max"
        )
        #expect(try abs(watched(metrics) - 40) < 0.5)
    }

    @Test(.timeLimit(.minutes(10))) func presentationIsEditedToFiles() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = try #require(Samples.directory).appendingPathComponent("dash-timeline/manifest.mpd").path
        let edited = try await run(["edit", source, "--duration", "8", "-o", folder.path])
        #expect(edited.status == 0, "\(edited.errors)")
        let metrics = try await play(path("multivariant.m3u8"), "--no-decode", "--speed", "max")
        #expect(try abs(watched(metrics) - 8) < 0.5)
        let piped = try RunningProgram(
            [
                "-c",
                "exec \(RunningProgram.executable.path) edit - --base-url file://\(source) --start 8 -o \(path("piped"))/ < \(source)",
            ],
            of: URL(fileURLWithPath: "/bin/sh")
        )
        #expect(try await piped.finish() == 0, "\(piped.standardError)")
        let rest = try await play(path("piped/multivariant.m3u8"), "--no-decode", "--speed", "max")
        #expect(try abs(watched(rest) - 32) < 0.5)
        let played = try await play(source, "--no-decode", "--speed", "max", "--edit", "duration=16")
        #expect(try abs(watched(played) - 16) < 0.5)
    }

    /// A presentation of the segments of a sample that began 22 seconds ago, with an origin that serves it.
    private struct LivePresentation {
        let origin: RecordingOrigin
        private let manifest: URL
        private let start = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 - 22).rounded())

        /// Copies a sample to a folder, and serves it with a manifest that does not announce its end.
        init(of sample: URL, in folder: URL) async throws {
            let content = folder.appendingPathComponent("content")
            manifest = content.appendingPathComponent("manifest.mpd")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: sample, to: content)
            try Self.write(from: start, #"minimumUpdatePeriod="PT2S""#, to: manifest)
            origin = try await RecordingOrigin(content)
        }

        /// The URL of the manifest.
        var source: String { origin.address("manifest.mpd") }

        /// The number of requests for the manifest so far.
        var loadCount: Int { origin.paths.filter { $0.hasSuffix(".mpd") }.count }

        /// The numbers of the segments that were requested so far, in order.
        var numbers: [Int] {
            origin.paths.filter { $0.contains("chunk-0-") }
                .compactMap { $0.dropLast(4).split(separator: "-").last.flatMap { Int($0) } }
        }

        /// Writes the last version of the manifest, which announces the end, 40 seconds after the start.
        func announceEnd() throws {
            try Self.write(from: start, #"mediaPresentationDuration="PT40S""#, to: manifest)
        }

        /// Writes the manifest of a live presentation that began at a date.
        private static func write(from start: Date, _ attributes: String, to manifest: URL) throws {
            let text = """
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" minBufferTime="PT4S" \(attributes)
                availabilityStartTime="\(start.formatted(.iso8601))" timeShiftBufferDepth="PT20S"><Period id="1" start="PT0S">
                <AdaptationSet contentType="video" mimeType="video/mp4" startWithSAP="1"><SegmentTemplate duration="4"
                initialization="init-0.mp4" media="chunk-0-$Number$.m4s"/>
                <Representation id="0" bandwidth="800000" codecs="avc1.64001e" width="640" height="360"/></AdaptationSet>
                </Period></MPD>
                """
            try Data(text.utf8).write(to: manifest, options: .atomic)
        }
    }

    private func livePresentation() async throws -> LivePresentation {
        let sample = try #require(Samples.directory).appendingPathComponent("dash-number")
        return try await LivePresentation(of: sample, in: folder)
    }

    /// The playlists of a manifest have its URL with a fragment; the next version of each is loaded with it.
    @Test(.timeLimit(.minutes(10))) func livePresentationIsRecordedUntilItEnds() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let live = try await livePresentation()
        let program = try RunningProgram(["record", live.source, "--library", path("library"), "--json"])
        try await eventually("a segment of a later version is recorded") {
            let known = live.numbers
            return (known.max() ?? 0) > (known.first ?? 0) + 3
        }
        try live.announceEnd()
        #expect(try await program.finish() == 0, "\(program.standardError)")
        await live.origin.stop()
        // Segments are requested concurrently.
        let recorded = live.numbers.sorted()
        #expect(recorded == Array((recorded.first ?? 0)...10), "\(recorded)")
    }

    @Test(.timeLimit(.minutes(10))) func livePresentationIsPlayedUntilItEndsAndIsNotDownloaded() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let live = try await livePresentation()
        let refused = try await run(["download", live.source, "--library", path("library"), "--quiet"])
        #expect(refused.status == 2 && refused.errors.contains("(live-stream)"), "\(refused.errors)")
        live.origin.clearPaths()
        let program = try RunningProgram([
            "play", live.source, "--no-decode", "--quiet", "--metrics", path("metrics.json"), "--events",
            path("events"),
        ])
        // The window moves; then the last version of the manifest announces the end.
        try await eventually("three versions were loaded") { live.loadCount >= 3 }
        try live.announceEnd()
        #expect(try await program.finish() == 0, "\(program.standardError)")
        let (loads, numbers) = (live.loadCount, live.numbers)
        await live.origin.stop()
        #expect(loads < 20, "\(loads)")
        #expect(numbers.count >= 4)
        #expect(numbers == Array((numbers.first ?? 0)...10), "\(numbers)")
        let events = try String(contentsOfFile: path("events"), encoding: .utf8)
        #expect(events.contains(#""event":"end""#))
    }
}
