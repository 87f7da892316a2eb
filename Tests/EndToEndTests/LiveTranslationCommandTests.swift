import Foundation
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
            #expect(try number("EXT-X-DISCONTINUITY-SEQUENCE") == discontinuity)
        }
        // Without the state, the numbers follow from the time, and are higher.
        #expect(try await run("translate", manifest, "-o", path("other")).status == 0)
        #expect(try number("EXT-X-MEDIA-SEQUENCE", "other") > sequence + 4)
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["not JSON", "{}", #"{"manifest":"other.mpd","state":{}}"#])
    func stateThatDoesNotFitIsRefused(_ text: String) async throws {
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
        #expect(result.errors.contains("state.json") && result.errors.contains("(invalid-state)"))
        #expect(lines().isEmpty)
        #expect(try String(contentsOfFile: path("state.json"), encoding: .utf8) == text)
    }
}
