import Foundation
import MediaTiming
import Testing

@testable import MediaDecoding

@Suite("Formats")
struct FormatTests {
    @Test(arguments: [
        ("libx264 -bf 3 -g 25", "mpegts"), ("libx265 -x265-params log-level=none:keyint=25", "mpegts"),
        ("libx264 -bf 2 -g 25", "fmp4"), ("libx265 -x265-params log-level=none:keyint=25", "fmp4"),
        ("libvpx-vp9 -deadline realtime -cpu-used 8 -g 25", "fmp4"),
        ("libaom-av1 -cpu-used 8 -usage realtime -g 25", "fmp4"),
        ("libx264 -bf 3 -g 25 -pix_fmt yuv420p10le", "fmp4"),
    ])
    func videoFramesEqualThoseOfFFmpeg(codec: String, container: String) throws {
        let fixtures = try Fixtures()
        let name = container == "fmp4" ? "a.mp4" : "a.ts"
        let format =
            container == "fmp4" ? "-movflags frag_keyframe+empty_moov+default_base_moof+delay_moov -f mp4" : "-f mpegts"
        try fixtures.make("-f lavfi -i testsrc2=s=192x108:r=25:d=3 -pix_fmt yuv420p -c:v \(codec) \(format) \(name)")
        var decoding = StreamDecoding()
        try decoding.add(fixtures.bytes(name))
        try decoding.finish()
        let expected = try Tool.checksums(name, in: fixtures.folder)
        #expect(expected.count == 75)
        #expect(decoding.frames.map { $0.pixelBuffer.checksum() } == expected)
        #expect(zip(decoding.frames, decoding.frames.dropFirst()).allSatisfy { $0.time < $1.time })
        #expect(decoding.problems.isEmpty)
    }

    @Test(arguments: [
        ("aac", "adts", "a.aac", 1024), ("libmp3lame", "mp3 -write_xing 0", "a.mp3", 1152),
        ("libmp3lame", "mp3", "a.mp3", 1152), ("ac3", "ac3", "a.ac3", 1536),
        ("eac3", "eac3", "a.eac3", 1536), ("flac", "flac", "a.flac", 4608), ("aac", "mpegts", "a.ts", 1024),
        ("ac3", "mpegts", "a.ts", 1536), ("eac3", "mpegts", "a.ts", 1536), ("libmp3lame", "mpegts", "a.ts", 1152),
        ("aac", "matroska", "a.mkv", 1024), ("libopus", "ogg", "a.ogg", 960), ("pcm_s16le", "wav", "a.wav", 1024),
        ("aac", "mp4", "a.mp4", 1024), ("libopus", "webm", "a.webm", 960),
        ("aac", "mp4 -movflags frag_keyframe+empty_moov+default_base_moof+delay_moov", "a.mp4", 1024),
        (
            "flac", "mp4 -strict -2 -movflags empty_moov+default_base_moof+delay_moov -frag_duration 1000000", "a.mp4",
            4608
        ),
        ("libopus", "mp4 -movflags empty_moov+default_base_moof+delay_moov -frag_duration 1000000", "a.mp4", 960),
        ("ac3", "mp4 -movflags empty_moov+default_base_moof+delay_moov -frag_duration 1000000", "a.mp4", 1536),
    ])
    func audioSamplesEqualThoseOfFFmpeg(codec: String, format: String, name: String, frame: Int) throws {
        let fixtures = try Fixtures()
        try fixtures.make("-f lavfi -i sine=440:r=48000:d=3 -ac 2 -c:a \(codec) -f \(format) \(name)")
        try fixtures.make("-i \(name) -f f32le -c:a pcm_f32le out.raw")
        let expected = try fixtures.bytes("out.raw").withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        var decoding = StreamDecoding()
        try decoding.add(fixtures.bytes(name))
        try decoding.finish()
        #expect(decoding.problems.isEmpty)
        let samples = decoding.sound.flatMap(\.samples)
        // Differences at the very end of a file are ignored here.
        #expect(abs(samples.count - expected.count) <= 2 * frame * 2)
        // For fragments, FFmpeg also outputs the samples that the edit list excludes.
        let isFragmented = format.contains("empty_moov")
        let priming = isFragmented ? ["aac": 1_024, "ac3": 256][codec] ?? 0 : 0
        #expect(Array(samples.prefix(200_000)).elementsEqual(Array(expected.dropFirst(priming * 2).prefix(200_000))))
        if isFragmented || format == "mp3" { #expect(decoding.sound.first?.time == .zero) }
        for (chunk, next) in zip(decoding.sound, decoding.sound.dropFirst()) { #expect(chunk.end == next.time) }
    }
}
