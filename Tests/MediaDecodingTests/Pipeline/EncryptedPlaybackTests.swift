import Foundation
import MediaTiming
import MillstreamTesting
import PlaybackReporting
import SegmentFormat
import StreamingEngine
import Testing

@testable import MediaDecoding

/// Tests streams with encrypted samples and keys from the playlist (RFC 8216bis §4.4.4.4): all frames are displayed,
/// exact seeks land on their frames, and a missing key is reported.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples")
)
struct EncryptedPlaybackTests {
    private static let key: [UInt8] = Array(31...46)
    private static let vector: [UInt8] = Array(101...116)
    private static let count = 3

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String(UInt8($0 >> 4), radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    private static func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: try #require(SampleStreams.directory).appendingPathComponent(name)))
    }

    private static func playlist(_ method: String, _ map: String?, seconds: Int, _ segments: [String]) -> [UInt8] {
        var text = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:\(seconds)\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        text += "#EXT-X-KEY:METHOD=\(method),URI=\"key\",KEYFORMAT=\"identity\",IV=0x\(hexadecimal(vector))\n"
        if let map { text += "#EXT-X-MAP:URI=\"\(map)\"\n" }
        for segment in segments { text += "#EXTINF:\(seconds),\n\(segment)\n" }
        return Array((text + "#EXT-X-ENDLIST\n").utf8)
    }

    /// Returns fragmented MP4 segments with Common Encryption (ISO/IEC 23001-7).
    private static func fragmented(_ method: String, _ scheme: MovieEncryption.Scheme) throws -> [String: [UInt8]] {
        let initialization = try bytes("fmp4/360p/init.mp4")
        var files: [String: [UInt8]] = ["key": key]
        for number in 0..<count {
            let whole = try MovieEncryption.encrypted(
                initialization + bytes("fmp4/360p/\(number).m4s"),
                scheme,
                key: key
            )
            let boxes = MovieEncryption.split(whole)
            let header = try #require(boxes.firstIndex { $0.0 == "moov" })
            files["init.mp4"] = boxes[...header].flatMap { MovieEncryption.box($0.0, $0.1) }
            files["\(number).m4s"] = boxes[(header + 1)...].flatMap { MovieEncryption.box($0.0, $0.1) }
        }
        files["media.m3u8"] = playlist(method, "init.mp4", seconds: 4, (0..<count).map { "\($0).m4s" })
        return files
    }

    /// Returns transport stream segments with video and audio encrypted with SAMPLE-AES.
    private static func transport() throws -> [String: [UInt8]] {
        let sampleKey = try #require(SampleKey(key: key, initializationVector: vector))
        var files: [String: [UInt8]] = ["key": key]
        let (picture, audio) = (TransportTests.encryptedVideo, TransportTests.encryptedAAC)
        for number in 0..<count {
            let clear = try bytes("ts/360p/\(number).ts").withUnsafeBytes { try SegmentDemuxer().demux($0) }
            var writer = TransportWriter([picture, audio])
            for packet in clear.packets {
                let isPicture = clear.track(withID: packet.trackID)?.kind == .video
                let bytes = packet.withBytes { Array($0) }
                writer.write(
                    try isPicture ? SampleAESWriter.video(bytes, sampleKey) : SampleAESWriter.audio(bytes, sampleKey),
                    isPicture ? picture : audio,
                    presentation: UInt64(packet.presentationTime.units(in: .ninetyKilohertz)),
                    decode: UInt64(packet.decodeTime.units(in: .ninetyKilohertz)),
                    isKey: packet.isKeyFrame
                )
            }
            files["\(number).ts"] = writer.bytes
        }
        files["media.m3u8"] = playlist("SAMPLE-AES", nil, seconds: 6, (0..<count).map { "\($0).ts" })
        return files
    }

    private static func files(_ form: String) throws -> [String: [UInt8]] {
        switch form {
        case "cbcs":
            try fragmented(
                "SAMPLE-AES",
                MovieEncryption.Scheme(name: "cbcs", pattern: (1, 9), vectorLength: 16, clearLead: 100)
            )
        case "cenc":
            try fragmented(
                "SAMPLE-AES-CTR",
                MovieEncryption.Scheme(name: "cenc", vectorLength: 8, clearLead: 100, usesAuxiliary: true)
            )
        default: try transport()
        }
    }

    private func stream(_ files: [String: [UInt8]]) throws -> DecodedStream {
        try DecodedStream("media.m3u8", in: try #require(SampleStreams.directory), replacing: files)
    }

    @Test(arguments: ["cbcs", "cenc", "transport"]) func allFramesAreDisplayedAndSeeksAreExact(
        form: String
    ) async throws {
        let stream = try stream(try Self.files(form))
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.wait { $0.hasPlayedToEnd }
            let duration = try #require(stream.engine.snapshot.duration)
            let frames = stream.shown.all.map { $0.reading?.frame ?? -1 }
            #expect(frames == Array(0..<Int((duration.seconds * 30).rounded())))
            if form == "transport" { #expect(!stream.audio.all.isEmpty) }
            for frame in [0, 119, 120, 121, 239, 240, 301, 359] {
                let time = MediaTime(value: Int64(frame), timescale: 30)
                let result = await stream.engine.seek(to: time, tolerance: .exact)
                #expect(result.position == time && stream.shown.all.last?.reading?.frame == frame)
            }
        }
    }

    @Test(arguments: ["cenc", "transport"]) func wrongKeyDoesNotRevealFrames(
        form: String
    ) async throws {
        let right = try await checksums(try Self.files(form))
        var files = try Self.files(form)
        files["key"] = Array(repeating: 9, count: 16)
        let wrong = try await checksums(files)
        // Frames decoded with the wrong key differ; frames without encrypted bytes may be equal.
        let same = wrong.count { right.contains($0) }
        #expect(right.count >= 300 && same * 5 <= right.count, "\(same) of \(wrong.count)")
    }

    private func checksums(_ files: [String: [UInt8]]) async throws -> Set<String> {
        let folder = try #require(SampleStreams.directory)
        let stream = try DecodedStream("media.m3u8", in: folder, replacing: files, withChecksums: true)
        try await stream.run {
            await stream.engine.setRate(1)
            try? await stream.wait { $0.hasPlayedToEnd || $0.status == .failed }
        }
        return Set(stream.shown.all.map(\.checksum))
    }

    @Test func missingKeyIsReported() async throws {
        var files = try Self.files("cbcs")
        files["key"] = nil
        let stream = try stream(files)
        await #expect(throws: StreamingError.self) {
            try await stream.run { try await stream.wait { $0.status == .readyToPlay } }
        }
        let error = try #require(stream.engine.snapshot.error)
        #expect(error.message.contains("key"), "\(error)")
    }
}
