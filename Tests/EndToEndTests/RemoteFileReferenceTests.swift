import Foundation
import TestSamples
import Testing

/// Tests that the documents of a server cannot name local files, although the command reads others.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct RemoteFileReferenceTests {
    private static let message = "refers to a local file, which"
    private static let options = ["--no-decode", "--speed", "max", "--retries", "0", "--quiet"]

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("references-\(UUID())")

    /// The folder of the server.
    private var served: URL { folder.appendingPathComponent("served") }
    /// The URL of a file outside the folder of the server, with the bytes of a segment.
    private var secret: String { folder.appendingPathComponent("secret.ts").absoluteString }

    init() throws {
        try FileManager.default.createDirectory(at: served, withIntermediateDirectories: true)
        let samples = try #require(Samples.directory)
        let segment = samples.appendingPathComponent("ts/180p/0.ts")
        try FileManager.default.copyItem(at: segment, to: served.appendingPathComponent("0.ts"))
        try FileManager.default.copyItem(at: segment, to: folder.appendingPathComponent("secret.ts"))
    }

    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments).result()
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }

    private func media(_ lines: String) -> String {
        "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n\(lines)\n#EXT-X-ENDLIST\n"
    }

    /// The lines of playlists that name the secret file.
    private var lines: [(name: String, text: String)] {
        [
            ("segment", "#EXTINF:6,\n\(secret)"),
            ("key", "#EXT-X-KEY:METHOD=AES-128,URI=\"\(secret)\"\n#EXTINF:6,\n0.ts"),
            ("map", "#EXT-X-MAP:URI=\"\(secret)\"\n#EXTINF:6,\n0.ts"),
        ]
    }

    @Test(.timeLimit(.minutes(10))) func childOfALocalPlaylistCannotReadFiles() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in lines { try write(media(text), to: "served/\(name).m3u8") }
        try write(media("#EXTINF:6,\n0.ts"), to: "served/good.m3u8")
        let origin = try await RecordingOrigin(served)
        for name in lines.map(\.name) + ["good"] {
            let address = origin.address("\(name).m3u8")
            try write("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000\n\(address)\n", to: "top.m3u8")
            let played = try await run(["play", path("top.m3u8")] + Self.options)
            let downloaded = try await run([
                "download", path("top.m3u8"), "--retries", "0", "--library", path("library-\(name)"),
            ])
            guard name != "good" else {
                #expect(played.status == 0 && downloaded.status == 0, "\(played.errors) \(downloaded.errors)")
                continue
            }
            #expect(played.status != 0 && played.errors.contains(Self.message), "\(name): \(played.errors)")
            #expect(downloaded.status != 0 && downloaded.errors.contains(Self.message), "\(name): \(downloaded.errors)")
        }
        await origin.stop()
    }

    /// The primary stream is played without an interstitial that is a local file.
    @Test(.timeLimit(.minutes(10))) func interstitialOfARemotePlaylistCannotBeAFile() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(media("#EXTINF:6,\nsecret.ts"), to: "ad.m3u8")
        let asset = folder.appendingPathComponent("ad.m3u8").absoluteString
        let range =
            "#EXT-X-DATERANGE:ID=\"a\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-01-01T00:00:02Z\",DURATION=6,"
            + "X-RESUME-OFFSET=0,X-ASSET-URI=\"\(asset)\""
        let text = media("#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n\(range)\n#EXTINF:6,\n0.ts")
        try write(text, to: "served/main.m3u8")
        let origin = try await RecordingOrigin(served)
        try write("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000\n\(origin.address("main.m3u8"))\n", to: "top.m3u8")
        let played = try await run(["play", path("top.m3u8"), "--events", path("events")] + Self.options)
        await origin.stop()
        #expect(played.status == 0, "\(played.errors)")
        let events = try String(contentsOfFile: path("events"), encoding: .utf8)
        #expect(events.contains("0.ts") && !events.contains("secret.ts"))
    }

    @Test(.timeLimit(.minutes(10))) func standardInputWithARemoteBaseCannotReadFiles() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(served)
        for (name, text) in lines {
            try write(media(text), to: "input")
            let command = "\"$0\" \"$@\" < '\(path("input"))'"
            let base = ["play", "-", "--base-url", origin.address("main.m3u8")]
            let program = try RunningProgram(
                ["sh", "-c", command, RunningProgram.executable.path] + base + Self.options,
                of: URL(fileURLWithPath: "/usr/bin/env")
            )
            let status = try await program.finish(within: .seconds(60))
            #expect(status != 0 && program.standardError.contains(Self.message), "\(name): \(program.standardError)")
        }
        await origin.stop()
    }

    /// A local playlist is inserted into a remote one, which does not allow the remote one to name files.
    @Test(.timeLimit(.minutes(10))) func playlistWithLocalInsertionCannotReadFiles() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in lines { try write(media(text), to: "served/\(name).m3u8") }
        try write(media("#EXTINF:6,\n0.ts"), to: "served/good.m3u8")
        try write(media("#EXTINF:6,\nsecret.ts"), to: "local.m3u8")
        let origin = try await RecordingOrigin(served)
        let append = "append=" + path("local.m3u8")
        for name in lines.map(\.name) {
            let played = try await run(["play", origin.address("\(name).m3u8"), "--edit", append] + Self.options)
            #expect(played.status != 0 && played.errors.contains(Self.message), "\(name): \(played.errors)")
        }
        let played = try await run(
            ["play", origin.address("good.m3u8"), "--edit", append, "--events", path("events")] + Self.options
        )
        await origin.stop()
        #expect(played.status == 0, "\(played.errors)")
        let events = try String(contentsOfFile: path("events"), encoding: .utf8)
        #expect(events.contains("0.ts") && events.contains("secret.ts"))
    }

    /// An edited playlist is local, and leads to playlists of the server.
    @Test(.timeLimit(.minutes(10))) func editedPlaylistDoesNotPublishFiles() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(media("#EXTINF:6,\n0.ts"), to: "served/video.m3u8")
        try write(media("#EXTINF:6,\n\(secret)"), to: "served/subtitles.m3u8")
        let subtitles = "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"e\",LANGUAGE=\"en\",URI=\"subtitles.m3u8\""
        let variant = "#EXT-X-STREAM-INF:BANDWIDTH=1000000,SUBTITLES=\"s\"\nvideo.m3u8"
        try write("#EXTM3U\n\(subtitles)\n\(variant)\n", to: "served/main.m3u8")
        let origin = try await RecordingOrigin(served)
        let edited = try await run(["edit", origin.address("main.m3u8"), "--bandwidth", "0...4M"])
        #expect(edited.status == 0, "\(edited.errors)")
        try write(edited.output, to: "limited.m3u8")
        let downloaded = try await run([
            "download", path("limited.m3u8"), "--subtitles", "all", "--retries", "0", "--library", path("library"),
        ])
        #expect(downloaded.status != 0 && downloaded.errors.contains(Self.message), "\(downloaded.errors)")
        // A playlist that names a file itself is not edited, so that no local playlist with it results.
        let direct = try await run(["edit", origin.address("subtitles.m3u8"), "--duration", "6"])
        #expect(direct.status != 0 && direct.output.isEmpty && direct.errors.contains(Self.message), "\(direct.errors)")
        await origin.stop()
    }
}
