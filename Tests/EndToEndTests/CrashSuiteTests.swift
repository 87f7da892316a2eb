import Foundation
import SeededRandomness
import TestSamples
import Testing

/// Kills downloads at random moments, and compares what later downloads complete with an undisturbed download.
///
/// `Scripts/crashes COUNT` runs it with more kills.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .timeLimit(.minutes(120)),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct CrashSuiteTests {
    /// A stream with the options of its downloads into one library, one after the other.
    struct Download: Sendable, CustomStringConvertible {
        let stream: String
        let selections: [[String]]

        init(stream: String, _ selections: [String]...) {
            self.stream = stream
            self.selections = selections
        }

        var description: String {
            "\(stream) \(selections.map { $0.joined(separator: " ") }.joined(separator: ", then "))"
        }
    }

    private static let jobs = 4
    /// The maximum number of files that a kill loses: those that are being received, and half as many received ones that
    /// are being stored.
    private static let inFlight = jobs + jobs / 2
    private static let downloads = [
        Download(stream: "ts", ["--variants", "all"]),
        Download(stream: "aes", []),
        Download(stream: "fmp4", ["--variants", "lowest", "--audio", "all"]),
        Download(stream: "byterange", ["--conditions", "Wi-Fi"]),
        // Further variants and renditions are added to what is stored.
        Download(
            stream: "fmp4",
            ["--variants", "lowest", "--subtitles", "none"],
            ["--variants", "all", "--audio", "all", "--subtitles", "all"]
        ),
    ]
    /// The number of kills of each download; the sample of every run is small.
    private static let kills = ProcessInfo.processInfo.environment["MILLSTREAM_CRASHES"].flatMap { Int($0) } ?? 3

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("crashes-\(UUID())")

    private func library(_ name: String) -> URL { folder.appendingPathComponent(name) }

    private func start(
        _ download: Download,
        _ selection: Int,
        _ origin: RecordingOrigin,
        into library: URL
    ) throws -> RunningProgram {
        try RunningProgram(
            ["download", origin.address("\(download.stream)/multivariant.m3u8"), "--quiet"]
                + download.selections[selection]
                + ["--jobs", String(Self.jobs), "--library", library.path]
        )
    }

    /// Returns the files of the only package of a library by their paths in the package.
    private func package(in library: URL) throws -> [String: Data] {
        let packages = library.appendingPathComponent("packages")
        let names = try FileManager.default.contentsOfDirectory(atPath: packages.path)
        #expect(names.count == 1)
        let package = packages.appendingPathComponent(try #require(names.first))
        var files: [String: Data] = [:]
        for case let path as String in FileManager.default.enumerator(atPath: package.path) ?? .init() {
            let file = package.appendingPathComponent(path)
            if let data = try? Data(contentsOf: file) { files[path] = data }
        }
        return files
    }

    /// Returns whether a request is one for media; playlists are loaded by each process.
    private static func isMedia(_ path: String) -> Bool { !path.hasSuffix(".m3u8") }

    @Test(arguments: downloads)
    func killedDownloadIsCompletedByteForByte(_ download: Download) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        for selection in download.selections.indices {
            let undisturbed = try start(download, selection, origin, into: library("undisturbed"))
            #expect(try await undisturbed.finish(within: .seconds(300)) == 0, "\(undisturbed.standardError)")
        }
        let expected = try package(in: library("undisturbed"))
        let requestCount = origin.paths.count { Self.isMedia($0) }
        var generator = SeededGenerator(seed: 20_260)
        var (kills, rounds, fetchedAgain) = (0, 0, 0)
        while kills < Self.kills {
            rounds += 1
            let library = library("round-\(rounds)")
            origin.clearPaths()
            origin.delay = .milliseconds(15)
            var selection = 0
            var killsOfRound = 0
            while selection < download.selections.count {
                let before = origin.paths.count { Self.isMedia($0) }
                let program = try start(download, selection, origin, into: library)
                if kills < Self.kills, killsOfRound < 6 {
                    // The moment depends on requests, not on time, so that it is spread over the download on any machine.
                    let wanted = Int(generator.unit() * Double(requestCount) / 2)
                    try await eventually("media is requested") {
                        origin.paths.count { Self.isMedia($0) } - before >= wanted || !program.isRunning
                    }
                    try await Task.sleep(for: .milliseconds(Int(generator.unit() * 40)))
                    program.send(SIGKILL)
                }
                let status = try await program.finish(within: .seconds(300))
                #expect([0, -SIGKILL].contains(status), "\(program.standardError)")
                if status == 0 {
                    selection += 1
                } else {
                    killsOfRound += 1
                    kills += 1
                }
                if killsOfRound >= 6 || kills >= Self.kills { origin.delay = .zero }
            }
            let again = origin.paths.count { Self.isMedia($0) } - requestCount
            #expect(again <= killsOfRound * Self.inFlight, "\(again) requests again after \(killsOfRound) kills")
            fetchedAgain += max(0, again)
            let found = try package(in: library)
            #expect(Set(found.keys) == Set(expected.keys))
            let different = expected.filter { found[$0.key] != $0.value }.keys.sorted()
            #expect(different.isEmpty, "these files differ from those of the undisturbed download")
            try FileManager.default.removeItem(at: library)
        }
        print("\(download): \(kills) kills in \(rounds) downloads, \(fetchedAgain) requests again")
        await origin.stop()
    }
}
