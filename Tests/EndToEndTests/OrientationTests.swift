import Foundation
import MillstreamTesting
import TestSamples
import Testing

/// Tests that video is shown and exported in the orientation that its file declares, as portrait video of phones is.
@Suite(
    .tags(.endToEnd),
    .timeLimit(.minutes(10)),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct OrientationTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("orientation-\(UUID())")
    private var library: String { path("library") }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func run(
        _ arguments: [String],
        hasLibrary: Bool = true
    ) async throws -> (status: Int32, output: String, errors: String) {
        let program = try RunningProgram(arguments + (hasLibrary ? ["--library", library] : []))
        let status = try await program.finish(within: .seconds(300))
        return (status, program.standardOutput, program.standardError)
    }

    private func tool(_ arguments: [String]) async throws -> String {
        let program = try RunningProgram(arguments, of: URL(fileURLWithPath: "/usr/bin/env"))
        #expect(try await program.finish(within: .seconds(300)) == 0, "\(program.standardError)")
        return program.standardOutput
    }

    /// Writes four numbers into the matrix of the first track of a movie; FFmpeg has no common option for all versions.
    private func setMatrix(_ matrix: [Int], inFile path: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let header = try #require(bytes.firstRange(of: Data("tkhd".utf8))).upperBound
        // The matrix follows the flags, the times, the identifier, the duration, the layer and the volume.
        for (index, number) in zip([0, 1, 3, 4], matrix) {
            let start = header + 40 + 4 * index
            let value = UInt32(bitPattern: Int32(number) * 0x1_0000)
            let written = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
            bytes.replaceSubrange(start..<start + 4, with: written)
        }
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    private static let video = ["-f", "lavfi", "-i", "testsrc=d=4:s=320x180:r=25"]
    private static let encoding = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-pix_fmt", "yuv420p"]

    /// Makes a movie of 320x180 pixels with a matrix.
    private func makeMovie(_ matrix: [Int]) async throws -> String {
        let file = path("movie.mp4")
        _ = try await tool(
            ["ffmpeg", "-v", "error"] + Self.video + ["-f", "lavfi", "-i", "sine=f=440:d=4"] + Self.encoding
                + ["-c:a", "aac", file]
        )
        try setMatrix(matrix, inFile: file)
        return file
    }

    /// Returns the checksums of the frames that FFmpeg shows of a file.
    private func shownFrames(_ file: String) async throws -> [String] {
        let options = file.hasSuffix(".m3u8") ? ["-allowed_extensions", "ALL"] : []
        let text = try await tool(
            ["ffmpeg", "-nostdin", "-v", "error"] + options
                + ["-i", file, "-map", "0:v", "-vsync", "passthrough", "-f", "framemd5", "-"]
        )
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
            line.split(separator: ",").last.map { String($0.drop { $0 == " " }) }
        }
    }

    /// Plays a file and returns the size of its frames and their checksums.
    private func playedFrames(_ file: String) async throws -> (size: String, checksums: [String], errors: String) {
        let played = try await run([
            "play", file, "--headless", "--speed", "max", "--checksums", path("frames"), "--screenshot",
            "1=" + path("one.png"),
        ])
        #expect(played.status == 0, "\(played)")
        let lines = try String(contentsOfFile: path("frames"), encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.map { $0.split(separator: ",") }
        let sizes = Set(lines.map { "\($0[2])x\($0[3])" })
        #expect(sizes.count == 1, "\(sizes)")
        return (sizes.first ?? "", lines.compactMap { $0.last.map(String.init) }, played.errors)
    }

    private func inspectedVideo(_ file: String) async throws -> [String: Any] {
        let inspected = try await run(["inspect", file, "--json"], hasLibrary: false)
        #expect(inspected.status == 0, "\(inspected)")
        let report = try #require(JSONSerialization.jsonObject(with: Data(inspected.output.utf8)) as? [String: Any])
        let tracks = try #require(report["tracks"] as? [[String: Any]])
        return try #require(tracks.first { $0["type"] as? String == "video" })
    }

    @Test(
        arguments: [
            ([0, 1, -1, 0], 90, false), ([-1, 0, 0, -1], 180, false), ([0, -1, 1, 0], 270, false),
            ([-1, 0, 0, 1], 0, true), ([0, 1, 1, 0], 90, true),
        ] as [([Int], Int, Bool)]
    )
    func videoIsShownAndExportedInItsOrientation(matrix: [Int], rotation: Int, isMirrored: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let movie = try await makeMovie(matrix)
        let isPortrait = rotation == 90 || rotation == 270
        let size = isPortrait ? "180x320" : "320x180"
        let expected = try await shownFrames(movie)
        let played = try await playedFrames(movie)
        #expect(played.size == size && played.checksums == expected && expected.count == 100)
        #expect(played.errors.contains(size), "\(played.errors)")
        let image = try await tool([
            "ffprobe", "-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0:s=x", path("one.png"),
        ])
        #expect(image.hasPrefix(size), "\(image)")
        for exported in [path("export.mp4"), path("export.mkv")] {
            let downloaded = try await run(["download", movie, "-o", exported])
            #expect(downloaded.status == 0, "\(downloaded)")
            #expect(try await shownFrames(exported) == expected, "\(exported)")
            #expect(try await playedFrames(exported).checksums == expected, "\(exported)")
            let video = try await inspectedVideo(exported)
            #expect(video["rotation"] as? Int == (rotation == 0 ? nil : rotation), "\(video)")
            #expect(video["mirrored"] as? Bool == (isMirrored ? true : nil), "\(video)")
            #expect(video["width"] as? Int == (isPortrait ? 180 : 320), "\(video)")
        }
        let text = try await run(["inspect", movie], hasLibrary: false)
        let words = [rotation == 0 ? nil : "rotated by \(rotation)°", isMirrored ? "mirrored" : nil]
        #expect(text.output.contains("\(size) (\(words.compactMap(\.self).joined(separator: " and ")))"), "\(text)")
    }

    @Test(arguments: ["mp4", "mkv"]) func heightOfADownloadedFileIsThatOfItsOrientation(type: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let movie = try await makeMovie([0, 1, -1, 0])
        let file = path("portrait.\(type)")
        _ = try await run(["download", movie, "-o", file])
        let downloaded = try await run(["download", file])
        #expect(downloaded.status == 0, "\(downloaded)")
        let id = try #require(downloaded.output.split(separator: " ").first.map(String.init))
        let shown = try await run(["library", "show", id])
        #expect(shown.output.contains("320p"), "\(shown)")
    }

    @Test func orientationOfAnInitializationSectionIsApplied() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let playlist = path("media.m3u8")
        _ = try await tool(
            ["ffmpeg", "-v", "error"] + Self.video + Self.encoding
                + ["-f", "hls", "-hls_time", "2", "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4", playlist]
        )
        try setMatrix([0, 1, -1, 0], inFile: path("init.mp4"))
        let played = try await playedFrames(playlist)
        #expect(played.size == "180x320" && played.checksums.count == 100)
        #expect(try await shownFrames(playlist) == played.checksums)
    }
}
