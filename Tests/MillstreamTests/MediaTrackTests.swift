import Foundation
import MediaTiming
import PlaybackReporting
import Testing

@testable import Millstream

/// Tests the tracks of files and of streams without CODECS, which are those of the media.
@Suite(.timeLimit(.minutes(10))) struct MediaTrackTests {
    /// A quarter of a second of silence: ten frames of MP3 with 128 kbit/s and 44,100 Hz.
    private static let silence = Data(
        (0..<10).flatMap { _ in [0xFF, 0xFB, 0x90, 0x00] + [UInt8](repeating: 0, count: 413) }
    )

    /// A WAVE file of a quarter of a second, with one channel of 16 bits at 8,000 Hz.
    private static let wave: Data = {
        let size: UInt32 = 4_000
        var data = Data("RIFF".utf8)
        func append(_ value: UInt32, bytes: Int) {
            for index in 0..<bytes { data.append(UInt8(truncatingIfNeeded: value >> UInt32(8 * index))) }
        }
        append(36 + size, bytes: 4)
        data += Data("WAVEfmt ".utf8)
        for (value, bytes) in [(16, 4), (1, 2), (1, 2), (8_000, 4), (16_000, 4), (2, 2), (16, 2)] as [(UInt32, Int)] {
            append(value, bytes: bytes)
        }
        data += Data("data".utf8)
        append(size, bytes: 4)
        return data + Data(count: Int(size))
    }()

    /// Writes files to a temporary folder and returns an asset of the first one.
    private func withAsset(
        _ files: [(name: String, data: Data)],
        canDecode: @escaping @Sendable (String) -> Bool = { _ in true },
        _ body: (Asset) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tracks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for file in files { try file.data.write(to: folder.appending(path: file.name)) }
        var environment = Player.Environment.withoutDecoding
        environment.canDecode = canDecode
        let name = try #require(files.first).name
        try await body(Asset(url: folder.appending(path: name), environment: environment))
    }

    /// Plays an asset until its tracks are known, and returns them.
    private func playedTracks(_ asset: Asset) async throws -> [PlayerItemTrack] {
        let item = PlayerItem(asset: asset)
        let player = try Player(playerItem: item)
        player.play()
        for await state in item.states where !state.tracks.isEmpty || state.status == .failed { break }
        #expect(item.error == nil)
        let tracks = item.tracks
        await player.shutDown()
        return tracks
    }

    private static func playlist(_ name: String) -> (name: String, data: Data) {
        let segments = (0..<2).map { _ in "#EXTINF:0.25,\n\(name).mp3\n" }.joined()
        return ("\(name).m3u8", Data("#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(segments)#EXT-X-ENDLIST\n".utf8))
    }

    /// An MP3 file with a title and an artwork.
    private static let song: Data = {
        func frame(_ id: String, _ content: [UInt8]) -> Data {
            Data(id.utf8) + Data([0, 0, 0, UInt8(clamping: content.count), 0, 0]) + Data(content)
        }
        let image = Array("image/png".utf8) + [0, 3, 0, 0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let frames = frame("TIT2", [3] + Array("Song".utf8)) + frame("APIC", [0] + image)
        return Data("ID3".utf8) + Data([4, 0, 0, 0, 0, 0, UInt8(clamping: frames.count)]) + frames + Self.silence
    }()

    @Test func metadataOfAFileIsThatOfItsAssetAndItem() async throws {
        try await withAsset([("song.mp3", Self.song)]) { asset in
            let metadata = try await asset.load(.commonMetadata)
            #expect(metadata.map(\.commonKey) == [.title, .artwork])
            #expect(metadata.first?.stringValue == "Song" && metadata.first?.dataValue == nil)
            let artwork = MetadataItem.metadataItems(from: metadata, withKey: .artwork)
            #expect(artwork.map(\.contentType) == ["image/png"] && artwork.first?.dataValue?.count == 8)
            let item = PlayerItem(asset: asset)
            #expect(item.commonMetadata.isEmpty)
            let player = try Player(playerItem: item)
            player.play()
            for await state in item.states where !state.commonMetadata.isEmpty || state.status == .failed { break }
            #expect(item.commonMetadata == metadata)
            await player.shutDown()
        }
    }

    @Test func waveFileHasOneAudioTrack() async throws {
        try await withAsset([("tone.wav", Self.wave)]) { asset in
            let (tracks, isPlayable) = try await asset.load(.tracks, .isPlayable)
            #expect(tracks == [AssetTrack(mediaType: .audio, codec: "pcm")] && isPlayable)
            let played = try await playedTracks(asset)
            #expect(played.map(\.assetTrack) == tracks && played.map(\.isEnabled) == [true])
        }
    }

    @Test func streamWithoutCodecsHasTheTracksOfItsSegments() async throws {
        try await withAsset([Self.playlist("a"), ("a.mp3", Self.silence)]) { asset in
            let (tracks, isPlayable) = try await asset.load(.tracks, .isPlayable)
            #expect(tracks == [AssetTrack(mediaType: .audio, codec: "mp4a.40.34")] && isPlayable)
            let played = try await playedTracks(asset)
            #expect(played.map(\.assetTrack) == tracks)
        }
    }

    @Test func variantsWithoutCodecsHaveTheTracksOfTheirSegments() async throws {
        let multivariant = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=140000\na.m3u8\n"
        let files = [("main.m3u8", Data(multivariant.utf8)), Self.playlist("a"), ("a.mp3", Self.silence)]
        try await withAsset(files) { asset in
            let (tracks, played) = (try await asset.load(.tracks), try await playedTracks(asset))
            #expect(tracks == [AssetTrack(mediaType: .audio, codec: "mp4a.40.34")])
            #expect(played.map(\.mediaType) == [.audio])
        }
    }

    @Test(arguments: [true, false]) func mediaThatCannotBeDecodedIsNotPlayable(isFile: Bool) async throws {
        let files = isFile ? [("a.mp3", Self.silence)] : [Self.playlist("a"), ("a.mp3", Self.silence)]
        try await withAsset(files, canDecode: { $0 != "mp4a.40.34" }) { asset in
            let isPlayable = try await asset.load(.isPlayable)
            #expect(!isPlayable)
        }
        try await withAsset(files, canDecode: { $0 == "mp4a.40.34" }) { asset in
            let isPlayable = try await asset.load(.isPlayable)
            #expect(isPlayable)
        }
    }

    /// The decoder decides on media that is damaged, or whose codec streams do not have.
    @Test func mediaOfAnUnknownCodecIsPlayable() async throws {
        try await withAsset([Self.playlist("a"), ("a.mp3", Data("media".utf8))], canDecode: { _ in false }) { asset in
            let isPlayable = try await asset.load(.isPlayable)
            #expect(isPlayable)
        }
        try await withAsset([("tone.wav", Self.wave)], canDecode: { _ in false }) { asset in
            let isPlayable = try await asset.load(.isPlayable)
            #expect(isPlayable)
        }
    }
}
