import Foundation
import MediaTiming
import PlaybackReporting
import SegmentFormat
import StreamingEngine
import Testing

@testable import MediaDecoding

@Suite("Sound")
struct SoundTests {
    /// Returns the start times of the beeps in a sample stream, where the audio becomes loud after a quiet section.
    private static func beeps(_ list: [AudioSamples]) -> [MediaTime] {
        var onsets: [MediaTime] = []
        var quietCount = 10_000
        for chunk in list {
            for frame in 0..<chunk.frameCount {
                // The tone has an amplitude of 0.04, and the beep of 0.4; a half-wave of 1 kHz has 24 samples.
                if abs(chunk.samples[frame * chunk.channelCount]) > 0.1 {
                    if quietCount > 1_000 {
                        onsets.append(chunk.time + MediaTime(value: Int64(frame), timescale: Int64(chunk.sampleRate)))
                    }
                    quietCount = 0
                } else {
                    quietCount += 1
                }
            }
        }
        return onsets
    }

    @Test(
        .enabled(if: SampleStreams.areAvailable, "Scripts/make-samples was not run"),
        arguments: [("ts/180p", 10, 72), ("fmp4/audio-en", 0, 60), ("byterange/360p", 0, 60)],
        [48_000, 44_100]
    )
    func beepsAreAtWholeSeconds(stream: (path: String, start: Int64, count: Int), sampleRate: Int) throws {
        let demuxer = SegmentDemuxer()
        var decoder: AudioDecoder?
        var list: [AudioSamples] = []
        for segment in try SampleStreams.segments(stream.path) {
            let result = try segment.bytes.withUnsafeBytes { bytes in
                try (segment.initialization ?? []).withUnsafeBytes { try demuxer.demux(bytes, initialization: $0) }
            }
            let track = try #require(result.tracks.first { $0.kind == .audio })
            if decoder == nil {
                decoder = try AudioDecoder(track, options: .init(sampleRate: sampleRate, channelCount: 1))
            }
            for packet in result.packets where packet.trackID == track.id { list += decoder?.decode(packet) ?? [] }
        }
        list += decoder?.drain() ?? []
        for (chunk, next) in zip(list, list.dropFirst()) { #expect(chunk.end == next.time) }
        let beeps = Self.beeps(list)
        #expect(beeps.count == stream.count || beeps.count == stream.count + 1)
        // The very first packet has no previous packet to overlap with, so its audio is incomplete.
        for (second, beep) in beeps.enumerated().dropFirst() {
            // The beep starts as a sine from zero: it reaches a quarter of its amplitude within 2 samples.
            #expect(abs((beep - MediaTime(seconds: stream.start + Int64(second))).seconds) < 0.0005)
        }
    }

    @Test func gapsAreVisibleInTheTimestamps() throws {
        let fixtures = try Fixtures()
        try fixtures.make("-f lavfi -i sine=440:r=48000:d=4 -c:a aac -f adts a.aac")
        let result = try fixtures.bytes("a.aac").withUnsafeBytes { try SegmentDemuxer().demux($0) }
        for sampleRate in [48_000, 44_100] {
            let decoder = try AudioDecoder(result.tracks[0], options: .init(sampleRate: sampleRate))
            var list: [AudioSamples] = []
            for (index, packet) in result.packets.enumerated() where !(50..<60).contains(index) {
                list += decoder.decode(packet)
            }
            list += decoder.drain()
            let gaps = zip(list, list.dropFirst()).map { ($1.time - $0.end).seconds }.filter { abs($0) > 0.001 }
            #expect(gaps.count == 1)
            #expect(abs((gaps.first ?? 0) - 10 * 1_024 / 48_000) < 0.0005)
            #expect(abs((list.last?.end.seconds ?? 0) - Double(result.packets.count) * 1_024 / 48_000) < 0.0005)
        }
    }

    @Test func id3TagOfPackedAudioContainsTheTimestamp() throws {
        let fixtures = try Fixtures()
        try fixtures.make("-f lavfi -i sine=440:r=44100:d=2 -c:a aac -f adts a.aac")
        let audio = try fixtures.bytes("a.aac")
        let owner = Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0]
        func tag(_ time: UInt64) -> [UInt8] {
            let frame = owner + (0..<8).map { UInt8(time >> (56 - UInt64($0) * 8) & 0xFF) }
            let size = frame.count
            return Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(size + 10)] + Array("PRIV".utf8) + [
                0, 0, 0, UInt8(size), 0, 0,
            ] + frame
        }
        let demuxer = SegmentDemuxer()
        let first = try (tag((1 << 33) - 90_000) + audio).withUnsafeBytes { try demuxer.demux($0) }
        let start = try #require(first.packets.first).presentationTime
        #expect(start == MediaTime(value: (1 << 33) - 90_000, timescale: 90_000))
        #expect(
            try #require(first.packets.last).endTime - start
                == MediaTime(value: Int64(first.packets.count) * 1_024, timescale: 44_100)
        )
        let second = try (tag(90_000) + audio).withUnsafeBytes { try demuxer.demux($0) }
        #expect(
            try #require(second.packets.first).presentationTime
                == MediaTime(value: (1 << 33) + 90_000, timescale: 90_000)
        )
        #expect(second.metadata.isEmpty)
    }

    @Test(
        arguments: [
            "aac -f adts a.aac", "libmp3lame -write_xing 0 -f mp3 a.mp3", "flac -f flac a.flac", "ac3 -f ac3 a.ac3",
        ],
        [100, 1_001, 30_000]
    )
    func packedAudioSplitAtAnyByteDecodesEqually(coding: String, size: Int) throws {
        let fixtures = try Fixtures()
        let name = String(try #require(coding.split(separator: " ").last))
        try fixtures.make("-f lavfi -i sine=440:r=48000:d=2 -ac 2 -c:a \(coding)")
        let bytes = try fixtures.bytes(name)
        var whole = StreamDecoding()
        try whole.add(bytes)
        try whole.finish()
        var pieces = StreamDecoding(isContinuous: true)
        // The format of a chunk cannot be detected from its middle, so the first chunk contains the header and the
        // first frames.
        let cuts = [0] + stride(from: 9_000, to: bytes.count, by: size) + [bytes.count]
        for (start, end) in zip(cuts, cuts.dropFirst()) where start < end { try pieces.add(Array(bytes[start..<end])) }
        try pieces.finish()
        #expect(whole.sound.flatMap(\.samples).count > 180_000)
        #expect(pieces.sound.flatMap(\.samples).elementsEqual(whole.sound.flatMap(\.samples)))
        #expect(pieces.sound.first?.time == whole.sound.first?.time)
        #expect(pieces.sound.last?.end == whole.sound.last?.end)
    }

    /// The name is that of files and of the attribute CODECS, not that of FFmpeg.
    @Test func packedFLACHasTheNameOfItsSampleEntry() throws {
        let fixtures = try Fixtures()
        try fixtures.make("-f lavfi -i sine=440:r=48000:d=1 -c:a flac -f flac a.flac")
        let demuxer = SegmentDemuxer()
        let segment = try fixtures.bytes("a.flac").withUnsafeBytes { try demuxer.demux($0) }
        #expect(segment.tracks.map(\.codec) == ["fLaC"])
    }

    @Test(arguments: [0.1, 0.5, 0.75, 1, 1.25, 2, 3, 8], AudioSettings.PitchAlgorithm.allCases)
    func tempoChangesTheDurationAndOnlyVarispeedThePitch(rate: Double, pitch: AudioSettings.PitchAlgorithm) throws {
        let filter = TempoFilter(rate: rate, pitchAlgorithm: pitch)
        let seconds = 20.0
        var list: [AudioSamples] = []
        for block in 0..<Int(seconds * 48_000) / 1_000 {
            let samples = (0..<1_000).flatMap { index -> [Float] in
                let value = Float(sin(2 * Double.pi * 500 * Double(block * 1_000 + index) / 48_000)) * 0.5
                return [value, -value]
            }
            let time = MediaTime(seconds: 7) + MediaTime(value: Int64(block) * 1_000, timescale: 48_000)
            list += try filter.process(AudioSamples(time: time, sampleRate: 48_000, channelCount: 2, samples: samples))
        }
        list += try filter.finish()
        let count = list.reduce(0) { $0 + $1.frameCount }
        #expect(abs(Double(count) / (seconds * 48_000 / rate) - 1) < 0.02)
        #expect(list.first?.time == MediaTime(seconds: 7))
        for (chunk, next) in zip(list, list.dropFirst()) {
            #expect(abs((next.time - chunk.time).seconds - Double(chunk.frameCount) / 48_000 * rate) < 0.000_001)
        }
        // A tone of 500 Hz has 1,000 zero crossings per second.
        let left = list.flatMap { chunk in stride(from: 0, to: chunk.samples.count, by: 2).map { chunk.samples[$0] } }
        let crossings = zip(left, left.dropFirst()).count { $0 * $1 < 0 }
        let expected = pitch == .varispeed ? rate * 1_000 : 1_000
        #expect(abs(Double(crossings) / (Double(count) / 48_000) / expected - 1) < 0.02)
    }

    @Test(arguments: [0.5, 1.5, 2], AudioSettings.PitchAlgorithm.allCases)
    func audioKeepsItsMediaTimeAtOtherRates(rate: Double, pitch: AudioSettings.PitchAlgorithm) throws {
        let filter = TempoFilter(rate: rate, pitchAlgorithm: pitch)
        // Five seconds of silence, then five seconds of a tone.
        var list: [AudioSamples] = []
        for block in 0..<480 {
            let samples = (0..<1_000).map { index -> Float in
                let frame = block * 1_000 + index
                return frame < 240_000 ? 0 : Float(sin(2 * Double.pi * 500 * Double(frame) / 48_000))
            }
            let time = MediaTime(value: Int64(block) * 1_000, timescale: 48_000)
            list += try filter.process(AudioSamples(time: time, sampleRate: 48_000, channelCount: 1, samples: samples))
        }
        list += try filter.finish()
        var onset: Double?
        for chunk in list where onset == nil {
            let index = chunk.samples.firstIndex { abs($0) > 0.3 }
            onset = index.map { chunk.time.seconds + Double($0) / 48_000 * rate }
        }
        // The tolerance is in media time; at double rate it is half as long in real time.
        #expect(abs(try #require(onset) - 5) < 0.04 * max(1, rate), "\(onset ?? 0)")
    }

    @Test func audioMixChangesTheSamples() {
        var mix = AudioMix()
        mix.setVolumeRamp(
            from: 1,
            to: 0,
            during: MediaTimeRange(start: MediaTime(seconds: 1), duration: MediaTime(seconds: 1))
        )
        mix.setVolume(0.5, at: MediaTime(seconds: 3))
        let whole = AudioSamples(
            time: .zero,
            sampleRate: 1_000,
            channelCount: 2,
            samples: Array(repeating: 1, count: 8_000)
        )
        let mixed = whole.applying(mix)
        for frame in 0..<4_000 {
            let gain = mix.volume(at: MediaTime(value: Int64(frame), timescale: 1_000))
            let heard = (mixed.samples[2 * frame], mixed.samples[2 * frame + 1])
            guard abs(Double(heard.0) - gain) < 0.000_1, heard.0 == heard.1 else {
                Issue.record("frame \(frame): \(heard) and not \(gain)")
                break
            }
        }
        #expect(whole.applying(AudioMix()).samples == whole.samples)
    }
}
