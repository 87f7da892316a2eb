import Foundation
import Testing

/// Tests that files of packed audio are played completely, from any position and without gaps.
@Suite(
    .tags(.endToEnd),
    .timeLimit(.minutes(5)),
    .enabled(if: Transfer.executable("ffmpeg") != nil, "ffmpeg is not installed")
)
struct AudioFileTests {
    private static let ffmpeg = Transfer.executable("ffmpeg")

    /// A file of a tone of 500 Hz.
    struct Tone: Sendable, CustomTestStringConvertible {
        let name: String
        let seconds: Double
        let options: [String]
        var rate = 44_100
        /// The number of samples at 48 kHz that may follow, as those of the last frame in a movie.
        var excess = 48

        var testDescription: String { "\(name), \(seconds) s, \(rate) Hz, \(options.joined(separator: " "))" }
    }

    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("audio-file-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func make(_ tone: Tone) async throws -> String {
        let path = folder.appendingPathComponent(tone.name).path
        let ffmpeg = try RunningProgram(
            ["-v", "error", "-f", "lavfi", "-i", "sine=500:d=\(tone.seconds):r=\(tone.rate)"] + tone.options + [path],
            of: try #require(Self.ffmpeg)
        )
        #expect(try await ffmpeg.finish() == 0, "\(ffmpeg.standardError)")
        return path
    }

    /// Plays a file and returns the number of samples per channel, and the longest time between zero crossings in samples.
    private func play(_ path: String, _ more: String...) async throws -> (count: Int, longest: Int) {
        let wave = folder.appendingPathComponent("played.wav").path
        let player = try RunningProgram(["play", path, "--headless", "--speed", "max", "--wave", wave] + more)
        #expect(try await player.finish() == 0, "\(player.standardError)")
        // Stereo with 16 bits at 48 kHz.
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: wave)).dropFirst(44))
        let left = stride(from: 0, to: bytes.count - 3, by: 4).map { index in
            Int(Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8))
        }
        var (longest, last) = (0, 0)
        for index in left.indices.dropFirst() where (left[index - 1] < 0) != (left[index] < 0) {
            longest = max(longest, index - last)
            last = index
        }
        return (left.count, longest)
    }

    /// The last segments of these files are shorter than a tenth of a second, or the files begin with a description that has
    /// no audio.
    @Test(
        arguments: [
            Tone(name: "a.mp3", seconds: 6, options: ["-c:a", "libmp3lame", "-b:a", "64k"]),
            Tone(name: "a.mp3", seconds: 7.3, options: ["-c:a", "libmp3lame", "-b:a", "64k"], rate: 48_000),
            Tone(name: "a.mp3", seconds: 20, options: ["-c:a", "libmp3lame", "-q:a", "4", "-ac", "2"]),
            Tone(name: "a.mp3", seconds: 20, options: ["-c:a", "libmp3lame", "-b:a", "128k"]),
            Tone(name: "a.m4a", seconds: 6, options: ["-c:a", "aac"], excess: 1_115),
        ]
    )
    func fileIsPlayedCompletely(tone: Tone) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let played = try await play(try await make(tone))
        // A sample more or less results from the conversion to 48 kHz.
        let expected = Int(tone.seconds * 48_000)
        #expect((expected - 48...expected + tone.excess).contains(played.count), "\(played)")
        // Half a period takes 48 samples; a gap takes longer.
        #expect(played.longest < 150, "\(played)")
    }

    /// The video of these files begins 2 s after the audio, and ends 2 s before it.
    @Test(arguments: ["late.mp4", "late.mkv"])
    func audioBeforeTheVideoIsPlayed(name: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        func make(_ arguments: [String], _ name: String) async throws -> String {
            let path = folder.appendingPathComponent(name).path
            let ffmpeg = try RunningProgram(["-v", "error"] + arguments + [path], of: try #require(Self.ffmpeg))
            #expect(try await ffmpeg.finish() == 0, "\(ffmpeg.standardError)")
            return path
        }
        let encoding = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-pix_fmt", "yuv420p"]
        let video = try await make(["-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=6"] + encoding, "video.mkv")
        let tone = Tone(name: "tone.m4a", seconds: 10, options: ["-c:a", "aac"])
        let audio = try await self.make(tone)
        let inputs = ["-itsoffset", "2", "-i", video, "-i", audio]
        let file = try await make(inputs + ["-map", "0:v", "-map", "1:a", "-c", "copy"], name)
        let played = try await play(file)
        #expect(abs(Double(played.count) / 48_000 - 10) < 0.1, "\(played)")
    }

    /// The beginning of a file, with which it is opened, is read again with its segments, and counts once.
    @Test(
        arguments: [
            Tone(name: "a.mp3", seconds: 5, options: ["-c:a", "libmp3lame"]),
            Tone(name: "a.m4a", seconds: 5, options: ["-c:a", "aac"]),
            Tone(name: "a.wav", seconds: 5, options: []),
        ]
    )
    func receivedBytesAreNotMoreThanTheFileHas(tone: Tone) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try await make(tone)
        let size = try Data(contentsOf: URL(fileURLWithPath: path)).count
        let player = try RunningProgram(["play", path, "--headless", "--speed", "max", "--json", "--quiet"])
        #expect(try await player.finish() == 0, "\(player.standardError)")
        let metrics = try #require(
            JSONSerialization.jsonObject(with: Data(player.standardOutput.utf8)) as? [String: Any]
        )
        let received = try #require(metrics["bytes"] as? Int)
        #expect(received > size / 2 && received <= size, "\(received) of \(size) bytes")
    }

    /// Segments in the middle of these files begin within a frame.
    @Test(
        arguments: [
            Tone(name: "a.mp3", seconds: 30, options: ["-c:a", "libmp3lame", "-b:a", "192k"]),
            Tone(name: "a.aac", seconds: 30, options: ["-c:a", "aac", "-b:a", "128k"]),
            Tone(name: "a.ac3", seconds: 30, options: ["-c:a", "ac3", "-b:a", "192k"]),
        ]
    )
    func fileIsPlayedFromItsMiddle(tone: Tone) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try await make(tone)
        let forward = try await play(path, "--start", "14")
        #expect(abs(Double(forward.count) / 48_000 - 16) < 0.1, "\(forward)")
        let part = try await play(path, "--start", "19", "--until", "21")
        #expect(abs(Double(part.count) / 48_000 - 2) < 0.05 && part.longest < 150, "\(part)")
    }

    @Test func imageOfAFileWithoutVideoIsRefused() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try await make(Tone(name: "a.wav", seconds: 3, options: []))
        let image = folder.appendingPathComponent("no.png").path
        let player = try RunningProgram(["play", path, "--headless", "--speed", "max", "--screenshot", "2=\(image)"])
        #expect(try await player.finish() == 1)
        #expect(player.standardError.contains("the media has no video (no-frame)"), "\(player.standardError)")
        #expect(!FileManager.default.fileExists(atPath: image))
    }
}
