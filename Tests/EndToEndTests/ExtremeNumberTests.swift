import Foundation
import Testing

/// Tests what the program does with playlists and media files whose numbers are near the limits of 64-bit arithmetic.
///
/// A status above 128, or below 0, is that of a signal, for example of a trap.
@Suite(.serialized, .tags(.endToEnd))
struct ExtremeNumberTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("extreme-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments).result()
    }

    /// Plays a file until a media time, or to its end.
    private func play(
        _ name: String,
        until end: String?
    ) async throws -> (status: Int32, output: String, errors: String) {
        let limit = end.map { ["--until", $0] } ?? []
        let arguments = ["play", path(name), "--no-decode", "--speed", "max", "--quiet"] + limit
        return try await RunningProgram(arguments).result()
    }

    // MARK: Playlists

    /// Writes a media playlist whose durations have a number, and a multivariant playlist with that bit rate.
    private func writePlaylists(_ number: String) throws {
        for index in 0..<10 { try Data("media".utf8).write(to: folder.appendingPathComponent("\(index).ts")) }
        let segments = (0..<10).map { "#EXTINF:\(number),\n\($0).ts\n" }.joined()
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:\(number)\n\(segments)#EXT-X-ENDLIST\n"
        try Data(media.utf8).write(to: folder.appendingPathComponent("media.m3u8"))
        let variants = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\(number),AVERAGE-BANDWIDTH=\(number)\nmedia.m3u8\n"
        try Data(variants.utf8).write(to: folder.appendingPathComponent("main.m3u8"))
    }

    /// A download is repeated, because the second one reads what the first one has stored.
    private func expectDownloads(of name: String) async throws {
        for _ in 0..<2 {
            let downloaded = try await run("download", path(name), "--library", path("library"))
            #expect(downloaded.status == 0, "\(downloaded)")
        }
        let listed = try await run("library", "list", "--library", path("library"))
        #expect(listed.status == 0 && listed.output.contains("complete"), "\(listed)")
    }

    /// A number with more than 18 digits is no duration, so that the segments have none.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: ["9223372036854775807", "18446744073709551615"],
        ["media.m3u8", "main.m3u8"]
    )
    func durationBeyondTheLimitIsReportedAndNotPlayed(number: String, name: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylists(number)
        let inspected = try await run("inspect", path(name), "--follow")
        #expect(inspected.status == 0 && inspected.output.contains("[bad-duration, "), "\(inspected)")
        let validated = try await run("validate", path(name), "--follow")
        #expect(validated.status == 2 && validated.output.contains("bad-duration"), "\(validated)")
        let played = try await play(name, until: nil)
        #expect(played.status == 0 && played.errors.isEmpty, "\(played)")
        let limited = try await play(name, until: "8")
        #expect(limited.status == 1 && limited.errors.contains("(until-before-start)"), "\(limited)")
        try await expectDownloads(of: name)
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["media.m3u8", "main.m3u8"])
    func durationWithinTheLimitIsPlayed(name: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylists("999999999999999999")
        let inspected = try await run("inspect", path(name), "--follow")
        #expect(inspected.status == 0 && inspected.errors.isEmpty, "\(inspected)")
        #expect(!inspected.output.contains("error:"), "\(inspected)")
        let validated = try await run("validate", path(name), "--follow")
        #expect(validated.status == 0 && !validated.output.contains("error:"), "\(validated)")
        let played = try await play(name, until: "8")
        #expect(played.status == 0 && played.errors.isEmpty, "\(played)")
        try await expectDownloads(of: name)
    }

    // MARK: Media files

    private static func big(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        big(UInt64(8 + content.count), 4) + Array(type.utf8) + content
    }

    /// Returns a movie without tracks whose header declares a duration.
    private static func movie(duration: UInt64, timescale: UInt64) -> [UInt8] {
        // Version 1, whose times have 64 bits.
        let version: [UInt8] = [1, 0, 0, 0]
        let times = zeros(16) + big(timescale, 4) + big(duration, 8)
        let header = box("mvhd", version + times + zeros(80))
        return box("ftyp", Array("isom".utf8) + zeros(4)) + box("moov", header)
    }

    /// Returns a Vorbis stream whose last page declares a granule position.
    private static func vorbis(granule: UInt64, rate: UInt64) -> [UInt8] {
        func page(_ granule: UInt64, _ content: [UInt8]) -> [UInt8] {
            var bytes = Array("OggS".utf8) + zeros(2)
            bytes += big(granule, 8).reversed()
            bytes += big(7, 4)
            bytes += zeros(8)
            bytes += [1, UInt8(content.count)]
            return bytes + content
        }
        var head: [UInt8] = [1]
        head += Array("vorbis".utf8)
        head += zeros(4)
        head += [2]
        head += big(rate, 4).reversed()
        head += zeros(14)
        return page(0, head) + page(granule, zeros(200))
    }

    /// The names and bytes of files that declare more than 30 years.
    static let refusedFiles: [(name: String, bytes: [UInt8])] = {
        let most: UInt64 = (1 << 63) - 1
        return [
            ("highest.mp4", movie(duration: most, timescale: 1)), ("highest.ogg", vorbis(granule: most, rate: 1)),
            ("high.mp4", movie(duration: 1_000_000_000_000_000_000, timescale: 90_000)),
            ("high.ogg", vorbis(granule: 1_000_000_000_000_000_000, rate: 90_000)),
        ]
    }()

    @Test(.timeLimit(.minutes(10)), arguments: refusedFiles.map(\.name))
    func mediaFileWithAnExcessiveDurationIsRefused(name: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = try #require(Self.refusedFiles.first { $0.name == name })
        try Data(file.bytes).write(to: folder.appendingPathComponent(name))
        let reason = "the file declares a duration of more than 1000000000 seconds: "
        for inspected in [try await run("inspect", path(name)), try await run("inspect", path(name), "--json")] {
            #expect(inspected.status == 1 && inspected.output.isEmpty, "\(inspected)")
            #expect(inspected.errors.contains(reason) && inspected.errors.contains("(invalid-file)"), "\(inspected)")
        }
        let validated = try await run("validate", path(name))
        #expect(validated.status == 2 && validated.errors.contains("(not-a-playlist)"), "\(validated)")
        for end in [nil, "8"] {
            let played = try await play(name, until: end)
            #expect(played.status == 1 && played.errors.contains("(invalid-file)"), "\(played)")
            #expect(played.errors.contains(reason), "\(played)")
        }
        let downloaded = try await run("download", path(name), "--library", path("library"))
        #expect(downloaded.status == 2 && downloaded.errors.contains("(not-a-playlist)"), "\(downloaded)")
        let listed = try await run("library", "list", "--library", path("library"), "--json")
        #expect(listed.status == 0 && listed.output == "[]\n", "\(listed)")
    }

    /// A duration of 28 years is within the limit.
    @Test(.timeLimit(.minutes(10))) func mediaFileWithALongDurationIsPlayed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let seconds: UInt64 = 900_000_000
        try Data(Self.movie(duration: seconds, timescale: 1)).write(to: folder.appendingPathComponent("long.mp4"))
        try Data(Self.vorbis(granule: seconds, rate: 1)).write(to: folder.appendingPathComponent("long.ogg"))
        for name in ["long.mp4", "long.ogg"] {
            let played = try await play(name, until: "8")
            #expect(played.status == 0 && played.errors.isEmpty, "\(played)")
        }
        // The movie has no track.
        let movie = try await run("inspect", path("long.mp4"))
        #expect(movie.status == 1 && movie.errors.contains("(not-readable)"), "\(movie)")
        let audio = try await run("inspect", path("long.ogg"), "--json")
        #expect(audio.status == 0 && audio.output.contains(#""duration":900000000"#), "\(audio)")
        try await expectDownloads(of: "long.ogg")
    }
}
