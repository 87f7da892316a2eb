import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// Translates a live presentation whose window moves, with the program.
@Suite(.serialized, .tags(.endToEnd))
struct LiveTranslationCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("live-translation-\(UUID())")
    private var origin: URL { folder.appendingPathComponent("origin") }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func run(_ arguments: String...) async throws -> (status: Int32, errors: String) {
        let program = try RunningProgram(arguments)
        return (try await program.finish(), program.standardError)
    }

    /// The start of a segment, in seconds; the durations are 2, 3 and 4 seconds in turn, so that no number follows from
    /// a time.
    private func start(_ index: Int) -> Int { (0..<index).reduce(0) { $0 + 2 + $1 % 3 } }

    /// Writes a version of the manifest whose window has five segments.
    private func writeManifest(from first: Int, isEnded: Bool = false) throws {
        let entries = (first..<first + 5).map { #"<S t="\#(start($0))" d="\#(start($0 + 1) - start($0))"/>"# }
        let attributes =
            isEnded
            ? #"type="static" mediaPresentationDuration="PT\#(start(first + 5))S""#
            : #"type="dynamic" minimumUpdatePeriod="PT1S" publishTime="2024-01-01T00:00:00Z""#
        let text = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="" minBufferTime="PT2S"
              availabilityStartTime="2024-01-01T00:00:00Z" \(attributes)><Period id="1" start="PT0S">
            <AdaptationSet mimeType="video/mp4"><SegmentTemplate initialization="i.mp4" media="$Time$.m4s">
            <SegmentTimeline>\(entries.joined())</SegmentTimeline></SegmentTemplate>
            <Representation id="v" bandwidth="1000" codecs="avc1.64001f"/></AdaptationSet></Period></MPD>
            """
        try FileManager.default.createDirectory(at: origin, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: origin.appendingPathComponent("manifest.mpd"), options: .atomic)
    }

    /// Returns the lines of the media playlist; none if it was not written.
    private func lines(_ output: String = "out") -> [String] {
        let text = (try? String(contentsOfFile: path("\(output)/video-v.m3u8"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    private func number(_ tag: String, _ output: String = "out") throws -> Int {
        let line = try #require(lines(output).first { $0.hasPrefix("#\(tag):") })
        return try #require(Int(line.dropFirst(tag.count + 2)))
    }

    private func firstSegment(_ output: String = "out") -> String? { lines(output).first { $0.hasSuffix(".m4s") } }

    @Test(.timeLimit(.minutes(10))) func playlistsFollowAMovingWindowUntilItEnds() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writeManifest(from: 10)
        let server = try await RecordingOrigin(origin)
        let program = try RunningProgram(["translate", server.address("manifest.mpd"), "-o", path("out"), "--follow"])
        try await eventually("the first version is written") { firstSegment() == server.address("\(start(10)).m4s") }
        let first = try number("EXT-X-MEDIA-SEQUENCE")
        for moved in [3, 4] {
            try writeManifest(from: 10 + moved)
            let segment = server.address("\(start(10 + moved)).m4s")
            try await eventually("the window has moved by \(moved) segments") { firstSegment() == segment }
            #expect(try number("EXT-X-MEDIA-SEQUENCE") == first + moved)
            #expect(!lines().contains("#EXT-X-ENDLIST") && program.isRunning)
        }
        try writeManifest(from: 14, isEnded: true)
        #expect(try await program.finish() == 0, "\(program.standardError)")
        await server.stop()
        #expect(lines().last == "#EXT-X-ENDLIST")
        #expect(try number("EXT-X-MEDIA-SEQUENCE") == first + 4)
    }

    @Test(.timeLimit(.minutes(10))) func numbersContinueFromTheStateOfThePreviousRun() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let manifest = path("origin/manifest.mpd")
        func translate() async throws -> (status: Int32, errors: String) {
            try await run("translate", manifest, "-o", path("out"), "--state", path("state.json"))
        }
        try writeManifest(from: 10)
        #expect(try await translate().status == 0)
        let (sequence, discontinuity) = (
            try number("EXT-X-MEDIA-SEQUENCE"), try number("EXT-X-DISCONTINUITY-SEQUENCE")
        )
        for moved in [2, 4] {
            try writeManifest(from: 10 + moved)
            #expect(try await translate().status == 0)
            #expect(firstSegment()?.hasSuffix("/\(start(10 + moved)).m4s") == true)
            #expect(try number("EXT-X-MEDIA-SEQUENCE") == sequence + moved)
            // The discontinuity before the first segment of the first run is no longer in the window.
            #expect(try number("EXT-X-DISCONTINUITY-SEQUENCE") == discontinuity + 1)
            #expect(!lines().contains("#EXT-X-DISCONTINUITY"))
        }
        // Without the state, the numbers follow from the time, and are higher; a discontinuity announces that.
        #expect(try await run("translate", manifest, "-o", path("other")).status == 0)
        #expect(try number("EXT-X-MEDIA-SEQUENCE", "other") > sequence + 4)
        #expect(try number("EXT-X-DISCONTINUITY-SEQUENCE", "other") > discontinuity)
        #expect(lines("other").contains("#EXT-X-DISCONTINUITY"))
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            ("not a database", "invalid-state"), ("{}", "invalid-state"),
            (#"{"form":"millstream-translation-state","version":99}"# + "\n", "invalid-state"),
        ]
    )
    func stateThatDoesNotFitIsRefused(_ text: String, _ code: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writeManifest(from: 10)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path("state.json")))
        let result = try await run(
            "translate",
            path("origin/manifest.mpd"),
            "-o",
            path("out"),
            "--state",
            path("state.json")
        )
        #expect(result.status == 2, "\(result.errors)")
        #expect(result.errors.contains("state.json") && result.errors.contains("(\(code))"))
        #expect(lines().isEmpty)
        #expect(try String(contentsOfFile: path("state.json"), encoding: .utf8) == text)
    }

    /// A server with a state file gives the same numbers after a restart; one without announces the restart.
    @Test(.timeLimit(.minutes(10)), arguments: [true, false])
    func numbersOfAServerContinueAfterARestart(_ hasState: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writeManifest(from: 10)
        let origin = try await RecordingOrigin(origin)
        let options = hasState ? ["--state", path("state")] : []
        var known: [String: Int] = [:]
        for first in [10, 12, 15] {
            try writeManifest(from: first)
            let server = try RunningProgram(
                ["serve", "--port", "0", "--library", path("library"), "--allow-host", "127.0.0.1"] + options
            )
            let address = try await server.match("(http://[0-9.:]+)/")
            let lines = try await playlistLines(address, source: origin.address("manifest.mpd"))
            server.send(SIGTERM)
            #expect(try await server.finish() == 0, "\(server.standardError)")
            let tag = "#EXT-X-MEDIA-SEQUENCE:"
            let sequence = try #require(lines.first { $0.hasPrefix(tag) }.flatMap { Int($0.dropFirst(tag.count)) })
            let current = Dictionary(
                uniqueKeysWithValues: lines.filter { $0.contains(".m4s?") }.enumerated().map { index, line in
                    (String(line.prefix { $0 != "?" }), sequence + index)
                }
            )
            #expect(current.count == 5, "\(lines)")
            let shared = current.filter { known[$0.key] != nil }
            #expect(known.isEmpty || !shared.isEmpty)
            if hasState {
                #expect(shared.allSatisfy { known[$0.key] == $0.value })
            } else {
                #expect(current.values.allSatisfy { $0 > known.values.max() ?? 0 })
                #expect(lines.contains("#EXT-X-DISCONTINUITY"))
            }
            known = current
        }
        await origin.stop()
    }

    /// Returns the lines of the media playlist that a server makes of a presentation with one variant.
    private func playlistLines(_ server: String, source: String) async throws -> [String] {
        let client = HTTPClient()
        func lines(_ address: String) async throws -> [String] {
            let response = try await client.execute(HTTPClientRequest(url: address), timeout: .seconds(30))
            let body = String(buffer: try await response.body.collect(upTo: 1 << 20))
            return body.split(separator: "\n").map(String.init)
        }
        do {
            let multivariant = try await lines("\(server)/play.m3u8?url=\(source)")
            let reference = try #require(multivariant.last { !$0.hasPrefix("#") }, "\(multivariant)")
            let base = try #require(URL(string: server + "/play.m3u8"))
            let media = try #require(URL(string: reference, relativeTo: base))
            let result = try await lines(media.absoluteString)
            try await client.shutdown()
            return result
        } catch {
            try await client.shutdown()
            throw error
        }
    }
}
