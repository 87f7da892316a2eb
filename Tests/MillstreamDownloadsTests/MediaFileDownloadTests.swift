import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamDownloads
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
