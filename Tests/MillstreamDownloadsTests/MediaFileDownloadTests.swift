import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import NIOCore
import PlaylistEditing
import ResourceAddressing
import Testing

/// Tests downloads of media files, such as MP4 files, in place of streams.
@Suite(.timeLimit(.minutes(10))) struct MediaFileDownloadTests {
    private let temporary: TemporaryLibrary
    private let folder: URL

    init() throws {
        temporary = try TemporaryLibrary()
        folder = temporary.directory.deletingLastPathComponent().appendingPathComponent("media-files-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// A WAV file of 8-bit samples, 8,000 in a second.
    private static func wave(seconds: Int) -> Data {
        func number(_ value: Int, _ size: Int) -> [UInt8] { (0..<size).map { UInt8(value >> (8 * $0) & 0xFF) } }
        let samples = (0..<seconds * 8_000).map { UInt8($0 % 251) }
        let format = number(1, 2) + number(1, 2) + number(8_000, 4) + number(8_000, 4) + number(1, 2) + number(8, 2)
        let body =
            Array("WAVEfmt ".utf8) + number(16, 4) + format + Array("data".utf8) + number(samples.count, 4) + samples
        return Data(Array("RIFF".utf8) + number(body.count, 4) + body)
    }

    private func write(_ data: Data, _ name: String) throws -> ResourceAddress {
        let file = folder.appendingPathComponent(name)
        try data.write(to: file)
        return ResourceAddress(filePath: file.path)
    }

    private func download(
        _ source: ResourceAddress,
        _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) async throws -> StoredAsset {
        var configuration = DownloadConfiguration()
        change(&configuration)
        return try await AssetDownload(
            source,
            into: temporary.library,
            loader: ResourceLoader(FileTransport(), policy: RecoveryPolicy(retries: 0)),
            configuration: configuration
        ).run()
    }

    private func bytes(_ response: TransportResponse) async throws -> Data {
        var bytes = Data()
        for try await buffer in response.body { bytes.append(contentsOf: buffer.readableBytesView) }
        return bytes
    }

    @Test(arguments: [
        ("sound.wav", "file/000000.wav"), ("sound", "file/000000.wav"), ("a b\"{$c}.WAV", "file/000000.wav"),
    ])
    func fileIsStoredUnchanged(name: String, path: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = Self.wave(seconds: 20)
        let asset = try await download(write(data, name))
        #expect(asset.isMediaFile && asset.state == .complete && asset.isPlayableOffline)
        #expect(asset.duration == MediaTime(seconds: 20) && asset.bytes.bytes == Int64(data.count))
        #expect(asset.renditions.map(\.bandwidth?.bitsPerSecond) == [64_018])
        let stored = try #require(temporary.library.file(path, of: asset.id))
        #expect(try Data(contentsOf: stored) == data)
        #expect(try temporary.library.verify(asset.id).damaged.isEmpty)
    }

    @Test func titleInTheFileIsThatOfTheAssetUnlessThereIsAnother() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = Self.wave(seconds: 2)
        let title = Data("INFOINAM".utf8) + Data([4, 0, 0, 0]) + Data("Song".utf8)
        let list = Data("LIST".utf8) + Data([16, 0, 0, 0]) + title
        // The list precedes the samples.
        let tagged = data.prefix(36) + list + data.dropFirst(36)
        let song = try await download(write(tagged, "a.wav"))
        #expect(song.title == "Song")
        let source = try write(tagged, "b.wav")
        let named = try await download(source) { $0.title = "Other" }
        #expect(named.title == "Other")
        let again = try await download(source)
        #expect(again.id == named.id && again.title == "Other")
        let plain = try await download(write(data, "c.wav"))
        #expect(plain.title == "c")
    }

    /// Returns an MP3 file of silence with an image.
    private static func song(_ image: [UInt8]) -> Data {
        let content: [UInt8] = [0] + Array("image/png".utf8) + [0, 3, 0] + image
        let frame: [UInt8] = Array("APIC".utf8) + [0, 0, 0, UInt8(clamping: content.count), 0, 0] + content
        let tag: [UInt8] = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(clamping: frame.count)] + frame
        let silence: [UInt8] = [0xFF, 0xFB, 0x90, 0x00] + [UInt8](repeating: 0, count: 413)
        return Data(tag) + Data((0..<20).flatMap { _ in silence })
    }

    /// A PNG image of 2×3 pixels.
    private static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 0, 2, 0, 0, 0, 3]
    /// A JPEG image of 2×3 pixels.
    private static let jpeg = Data([0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 3, 0, 2])

    @Test func artworkInTheFileIsThatOfTheAssetUnlessThereIsAnother() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = temporary.library
        let source = try write(Self.song(Self.png), "a.mp3")
        let song = try await download(source)
        #expect(song.isMediaFile && song.artworkFormat == .png)
        #expect(try library.artwork(of: song.id)?.data == Data(Self.png))
        try library.setArtwork(AssetArtwork(Self.jpeg), of: song.id)
        let again = try await download(source)
        #expect(again.id == song.id)
        #expect(try library.artwork(of: song.id)?.data == Self.jpeg)
        // The user may remove the image of the file.
        try library.setArtwork(nil, of: song.id)
        let without = try await download(source)
        #expect(without.id == song.id && without.artworkFormat == nil)
        // An image without dimensions cannot be stored.
        let plain = try await download(write(Self.song(Array(Self.png.prefix(8))), "b.mp3"))
        #expect(plain.isMediaFile && plain.artworkFormat == nil)
    }

    @Test func artworkOfTheDownloadTakesPrecedenceOverThatOfTheFile() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = temporary.library
        let session = try DownloadSession(
            identifier: "films",
            library: library,
            loader: ResourceLoader(FileTransport(), policy: RecoveryPolicy(retries: 0))
        )
        var configuration = DownloadConfiguration()
        configuration.artwork = Self.jpeg
        let given = try await session.makeTask(write(Self.song(Self.png), "a.mp3"), configuration: configuration)
        given.resume()
        let asset = try await given.value()
        #expect(try library.artwork(of: asset.id)?.data == Self.jpeg)
        let task = try await session.makeTask(write(Self.song(Self.png), "b.mp3"))
        task.resume()
        let other = try await task.value()
        #expect(try library.artwork(of: other.id)?.data == Data(Self.png))
        await session.invalidate()
    }

    @Test func packageIsAnsweredWithTheFile() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = Self.wave(seconds: 2)
        let asset = try await download(write(data, "a.wav"))
        let transport = PackageTransport(temporary.library, id: asset.id, origin: nil)
        #expect(try await bytes(transport.send(TransportRequest(transport.address, kind: .playlist))) == data)
        let range = try #require(ByteRange(start: 44, length: 100))
        let part = try await transport.send(TransportRequest(transport.address, kind: .other, byteRange: range))
        #expect(try await bytes(part) == data[44..<144])
    }

    @Test func sourceIsReadFromTheDisk() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = Self.wave(seconds: 2)
        let source = try write(data, "a.wav")
        let asset = try await download(source)
        try FileManager.default.removeItem(at: folder)
        let transport = AssetTransport(temporary.library, id: asset.id, origin: FileTransport())
        let response = try await transport.send(TransportRequest(source, kind: .playlist))
        #expect(response.address == source && response.expectedLength == Int64(data.count))
        #expect(try await bytes(response) == data)
        let range = try #require(ByteRange(start: 44, length: 100))
        let part = try await transport.send(TransportRequest(source, kind: .other, byteRange: range))
        #expect(try await bytes(part) == data[44..<144])
    }

    @Test func folderThatIsExportedHasOnlyTheFile() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = Self.wave(seconds: 2)
        let asset = try await download(write(data, "a film.wav"))
        let target = folder.appendingPathComponent("exported")
        let file = try temporary.library.export(asset.id, to: target)
        #expect(file.lastPathComponent == "a film.wav")
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == ["a film.wav"])
        #expect(try Data(contentsOf: file) == data)
    }

    @Test func streamThatBecameAFileIsReplaced() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let segment = try write(Data("segment".utf8), "0.ts")
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(segment.lastPathComponent)\n#EXT-X-ENDLIST\n"
        let source = try write(Data(playlist.utf8), "a")
        let stream = try await download(source)
        #expect(!stream.isMediaFile)
        let data = Self.wave(seconds: 2)
        let file = try await download(write(data, "a")) { $0.replacesStoredSegments = true }
        #expect(file.id == stream.id && file.isMediaFile && file.bytes.bytes == Int64(data.count))
        #expect(temporary.library.file("media/000000.ts", of: file.id) == nil)
    }

    /// A track without a language is selected, and offered, as `und`.
    @Test func trackOfAnUndeterminedLanguageIsSelectedByUnd() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = try write(Self.wave(seconds: 2), "a.wav")
        let asset = try await download(source) { $0.selection.audio = .some(["und"]) }
        #expect(asset.isMediaFile && asset.state == .complete)
        let error = await #expect(throws: DownloadError.self) {
            try await download(source) { $0.selection.audio = .some(["en", "und"]) }
        }
        #expect(error?.code == .nothingSelected && error?.message == "no audio track matches \"en\"")
        #expect(error?.hint == "available: und; select by language, name or LANGUAGE:NAME")
        let silent = await #expect(throws: DownloadError.self) {
            try await download(source) { $0.selection.subtitles = .some(["und"]) }
        }
        #expect(silent?.hint == "the file has no subtitles")
    }

    /// The selection of an asset that an earlier version stored was not compared with the tracks of the file.
    @Test func fileIsRepairedWhateverWasSelected() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = ResourceAddress("https://films.example/a.wav")
        let data = Array(Self.wave(seconds: 2))
        let asset = try await AssetDownload(
            source,
            into: temporary.library,
            loader: ResourceLoader(ScriptedTransport([source.text: [.bytes(data)]]))
        ).run()
        let selection = DownloadSelection(audio: .some(["en"]), subtitles: .some(["ko"]))
        let same = try temporary.library.addAsset(source: source, title: "a", selection: selection.description)
        #expect(same == asset.id)
        let file = try #require(temporary.library.file("file/000000.wav", of: asset.id))
        try FileManager.default.removeItem(at: file)
        // The address has expired, so that the file is recognized again.
        let expired = TransportError(.status, "the signature has expired", status: 403)
        let transport = ScriptedTransport([source.text: [.failure(expired), .bytes(data)]])
        let repair = try AssetRepair(
            asset.id,
            in: temporary.library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        )
        let result = try await repair.run()
        #expect(result.failure == nil && result.repaired == ["file/000000.wav"])
        #expect(transport.requests.count > 1)
        #expect(try Data(contentsOf: file) == Data(data))
    }

    @Test func partOfAFileIsRefused() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = try write(Self.wave(seconds: 2), "a.wav")
        let range = PartialRange<MediaTime>("0...1")
        let error = await #expect(throws: DownloadError.self) {
            try await download(source) { $0.selection.timeRange = range }
        }
        #expect(error?.code == .nothingSelected && error?.message.contains("as a whole") == true)
        let noVideo = await #expect(throws: DownloadError.self) {
            try await download(source) { $0.selection.variants = .none }
        }
        #expect(noVideo?.code == .nothingSelected)
        let recording = await #expect(throws: DownloadError.self) {
            try await download(source) { $0.recording = RecordingOptions() }
        }
        #expect(recording?.code == .notAPlaylist && recording?.message.contains("a WAVE file") == true)
        #expect(try temporary.library.assets().isEmpty)
    }

    @Test func fileWithoutMediaIsRefused() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let empty = Data([0, 0, 0, 16]) + Data("ftypisom".utf8) + Data([0, 0, 0, 0])
        let source = try write(empty, "a.mp4")
        let error = await #expect(throws: DownloadError.self) { try await download(source) }
        #expect(error?.code == .notAPlaylist && error?.message.contains("no media") == true)
    }

    @Test func variantThatIsAFileIsRefused() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try write(Self.wave(seconds: 20), "a.wav")
        let source = try write(Data("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.wav\n".utf8), "multivariant.m3u8")
        let error = await #expect(throws: DownloadError.self) { try await download(source) }
        #expect(error?.code == .notAPlaylist && error?.message.contains("this is a WAVE file") == true)
    }
}
