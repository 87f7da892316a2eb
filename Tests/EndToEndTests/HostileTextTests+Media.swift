import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSamples
import Testing

/// Tests that untrusted text in manifests, media files, downloads, recordings and requests to a server is escaped.
extension HostileTextTests {
    // MARK: Manifests

    /// Characters that XML permits, as references.
    private static let hostileReferences =
        "&#x80;&#x9B;31m&#x85;&#xAD;&#x61C;&#x200B;&#x2028;&#x202E;&#x2066;&#xFEFF;&#xE0041;&#10;injected"

    /// The forms of an escaped direction override: in text, in JSON and in a URL.
    private static let overrides = [#"\u{202E}"#, #"\u202e"#, "%E2%80%AE"]

    private static let manifest = """
        <?xml version="1.0" encoding="UTF-8"?>
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT8S" minBufferTime="PT2S"
            profiles="\(hostileReferences)">
          <ProgramInformation><Title>\(hostileReferences)</Title></ProgramInformation>
          <Period id="\(hostileReferences)">
            <AdaptationSet contentType="video" mimeType="video/mp4" lang="\(hostileReferences)">
              <Label>\(hostileReferences)</Label>
              <Representation id="\(hostileReferences)" bandwidth="500000" codecs="avc1.42c01e\(hostileReferences)" width="640"
                  height="360">
                <SegmentTemplate media="missing\(hostileReferences)-$Number$.m4s" duration="4" startNumber="1"
                    initialization="\(hostileReferences).mp4"/>
              </Representation>
            </AdaptationSet>
          </Period>
        </MPD>
        """

    static let manifestCommands: [[String]] = [
        ["inspect", "FOLDER/manifest.mpd"], ["inspect", "FOLDER/manifest.mpd", "--json"],
        ["validate", "FOLDER/manifest.mpd"], ["validate", "FOLDER/manifest.mpd", "--format", "json"],
        ["validate", "FOLDER/manifest.mpd", "--format", "sarif"],
        ["translate", "FOLDER/manifest.mpd", "-o", "FOLDER/translated"],
        ["translate", "FOLDER/manifest.mpd", "-o", "FOLDER/translated", "--json"],
        ["play", "FOLDER/manifest.mpd", "--no-decode", "--retries", "0", "--speed", "max", "--until", "4"],
        ["play", "FOLDER/manifest.mpd", "--no-decode", "--retries", "0", "--speed", "max", "--events", "-"],
        ["download", "FOLDER/manifest.mpd", "--retries", "0"],
        ["download", "FOLDER/manifest.mpd", "--retries", "0", "--json"],
    ]

    @Test(.timeLimit(.minutes(10)), arguments: manifestCommands)
    func manifestsAreEscaped(arguments: [String]) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(Self.manifest.utf8).write(to: folder.appendingPathComponent("manifest.mpd"))
        try await expectEscaped(arguments, as: Self.overrides)
    }

    // MARK: Media files

    private static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    /// Returns an MP3 file with an ID3 tag (version 2.4) that contains the text as its title and its artist.
    private static func audioFile(_ text: String) -> [UInt8] {
        func synchronized(_ size: Int) -> [UInt8] { (0..<4).map { UInt8(size >> (7 * (3 - $0)) & 0x7F) } }
        var frames: [UInt8] = []
        for name in ["TIT2", "TPE1"] {
            let content = [3] + Array(text.utf8)
            frames += Array(name.utf8)
            frames += synchronized(content.count)
            frames += zeros(2)
            frames += content
        }
        var bytes = Array("ID3".utf8)
        bytes += [4, 0, 0]
        bytes += synchronized(frames.count)
        bytes += frames
        for _ in 0..<200 {
            bytes += [0xFF, 0xFB, 0x90, 0x00]
            bytes += zeros(413)
        }
        return bytes
    }

    private static func box(_ type: [UInt8], _ content: [UInt8]) -> [UInt8] {
        big(8 + content.count, 4) + type + content
    }

    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] { box(Array(type.utf8), content) }

    /// Returns the sample movie with the text as its title.
    ///
    /// The changed `moov` box follows the media, whose offsets are the same.
    private static func movie(_ text: String) throws -> Data {
        let sample = try #require(Samples.directory).appendingPathComponent("movie.mp4")
        var bytes = try Data(contentsOf: sample)
        let type = try #require(bytes.range(of: Data("moov".utf8)))
        let size = bytes[type.lowerBound - 4..<type.lowerBound].reduce(0) { $0 << 8 | Int($1) }
        var content = Data(bytes[type.upperBound..<type.lowerBound - 4 + size])
        if let userData = content.range(of: Data("udta".utf8)) {
            content.replaceSubrange(userData, with: Data("free".utf8))
        }
        bytes.replaceSubrange(type, with: Data("free".utf8))
        let title = box([0xA9] + Array("nam".utf8), box("data", [0, 0, 0, 1, 0, 0, 0, 0] + Array(text.utf8)))
        var handler = zeros(8)
        handler += Array("mdirappl".utf8)
        handler += zeros(9)
        let metadata = zeros(4) + box("hdlr", handler) + box("ilst", title)
        bytes.append(contentsOf: box("moov", Array(content) + box("udta", box("meta", metadata))))
        return bytes
    }

    /// Expects that the title of a media file is escaped, also in the library.
    private func expectEscapedTitle(_ name: String) async throws {
        let commands = [
            ["inspect", "FOLDER/\(name)"], ["inspect", "FOLDER/\(name)", "--json"], ["download", "FOLDER/\(name)"],
            ["library", "list", "--json"],
        ]
        for arguments in commands { try await expectEscaped(arguments, as: Self.overrides) }
        // A table shortens long titles.
        try await expectEscaped(["library", "list"], showsText: false)
    }

    @Test(.timeLimit(.minutes(10))) func titleOfAnAudioFileIsEscaped() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(Self.audioFile(Self.hostileArgument)).write(to: folder.appendingPathComponent("title.mp3"))
        try await expectEscapedTitle("title.mp3")
    }

    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
    )
    func titleOfAMovieIsEscaped() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try Self.movie(Self.hostileArgument).write(to: folder.appendingPathComponent("title.mp4"))
        try await expectEscapedTitle("title.mp4")
    }

    // MARK: Downloads and recordings

    /// The title and the failure of a download stay in the list of downloads.
    @Test(.timeLimit(.minutes(10))) func listOfDownloadsIsEscaped() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await expectEscaped(["download", "FOLDER/playable.m3u8", "--retries", "0", "--title", Self.hostileArgument])
        for arguments in [["list"], ["list", "--json"]] { try await expectEscaped(["downloads"] + arguments) }
        for command in ["pause", "resume", "cancel"] {
            try await expectEscaped(["downloads", command, Self.hostileArgument])
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [[], ["--json"]] as [[String]])
    func recordingIsEscaped(options: [String]) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["0.ts", "1.ts"] {
            try Data(repeating: 0x47, count: 188).write(to: folder.appendingPathComponent(name))
        }
        let segments = "#EXTINF:4,\(Self.hostile)\n0.ts\n#EXTINF:4,\(Self.hostile)\n1.ts\n"
        try Data("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(segments)#EXT-X-ENDLIST\n".utf8)
            .write(to: folder.appendingPathComponent("ended.m3u8"))
        let record = ["record", "FOLDER/ended.m3u8", "--start-over", "--title", Self.hostileArgument]
        let result = try await run(record + options)
        #expect(result.status == 0, "\(String(decoding: result.errors, as: UTF8.self))")
        expectHarmless(result.output, "\(options)")
        expectHarmless(result.errors, "\(options)")
        try await expectEscaped(["library", "list", "--json"])
        try await expectEscaped(["record", "FOLDER/\(Self.hostile)/x.m3u8", "--retries", "0"] + options)
    }

    // MARK: Logs

    @Test(.timeLimit(.minutes(10))) func logOfTheServerIsEscaped() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = try RunningProgram(["serve", "--port", "0", "--verbose"], environment: environment)
        let address = try await program.match("(http://[0-9.:]+)/")
        let targets = [
            "/%1B%5B31m", "/%C2%9B31m", "/%E2%80%AE", "/%0Ainjected", "/play.m3u8?url=%1B%5B31m%C2%9B",
            "/play.m3u8?url=http://127.0.0.1/%1B%5B31m%0Ainjected", "/play.m3u8?url=http://%1B%E2%80%AE.example/",
            "/api/inspect?url=http://127.0.0.1:1/%1B", "/offline/%1B%5B31m%0Ainjected/x.m3u8",
            "/segment/%1B%5B2J?url=%1B", "/api/streams/%1B%E2%80%AE/poster",
        ]
        for target in targets {
            let response = try await HTTPClient.shared.get(url: address + target).get()
            #expect(response.status.code >= 400, "\(target)")
        }
        try await eventually("all requests are logged") {
            program.standardError.split(separator: "\n").count { $0.hasSuffix(" request") } == targets.count
        }
        #expect(program.standardError.contains("path=/%1B%5B31m "), "\(program.standardError)")
        program.send(SIGTERM)
        _ = try await program.finish()
        expectHarmless(program.outputData, "serve")
        expectHarmless(program.errorData, "serve")
    }
}
