import Foundation
import MediaTransport
import Millstream
import MillstreamDownloads

// The code of the article of MillstreamDownloads, and an application with the three parts of Apple's sample: a list of
// streams, their persistence, and their playback.
//
// Usage: DownloadStreams ADDRESS, such as the path of the sample stream fmp4/multivariant.m3u8 that Scripts/make-samples
// makes.

guard CommandLine.arguments.count == 2 else {
    print("usage: DownloadStreams ADDRESS")
    exit(64)
}
let argument = CommandLine.arguments[1]
let source = argument.contains("://") ? ResourceAddress(argument) : ResourceAddress(filePath: argument)
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("films-\(UUID())")
defer { try? FileManager.default.removeItem(at: folder) }

// The streams of the application and the part of each that is stored.
struct StreamList {
    var streams: [String: ResourceAddress]

    func name(of task: DownloadTask) -> String { task.details }
}

// The downloads: restored when the application starts, and stored in one library.
struct StreamPersistence {
    let library: AssetLibrary
    let session: DownloadSession

    init(folder: URL, loader: ResourceLoader) throws {
        library = try AssetLibrary(directory: folder)
        // The tasks that had not ended when the application ended are continued.
        session = try DownloadSession(identifier: "films", library: library, loader: loader)
    }

    func download(_ name: String, at address: ResourceAddress) async throws -> String {
        var configuration = DownloadConfiguration(selection: DownloadSelection(variants: .lowest, audio: .defaults))
        configuration.details = name
        let task = try await session.makeTask(address, configuration: configuration)
        let events = task.events
        task.resume()
        for await event in events {
            switch event {
            case .mediaSelectionResolved(let selection): print("audio:", selection.audio.map { $0 ?? "unknown" })
            case .loaded(_, let progress): print("\(name): \(Int(progress.percent)) %")
            case .completed(_, let error?): throw error
            default: break
            }
        }
        // The path is relative, because the library may be moved.
        return task.location
    }

    // The audio and subtitles that are not stored yet, one after the other.
    func addRemainingMedia(of address: ResourceAddress, at location: String) async throws {
        while let next = try library.nextMediaSelection(of: URL(filePath: location).lastPathComponent) {
            print("next:", next.characteristic.rawValue, next.name)
            let configuration = DownloadConfiguration(selection: next.selection)
            let task = try await session.makeTask(address, configuration: configuration)
            task.resume()
            try await task.value()
        }
    }

    func delete(_ location: String) throws {
        try library.delete(URL(filePath: location).lastPathComponent)
    }
}

// Playback, with or without a network.
struct StreamPlayback {
    let player = Player()

    func play(_ asset: Asset) async throws {
        let item = PlayerItem(asset: asset)
        try player.replaceCurrentItem(with: item)
        print(try await asset.load(.isPlayable) ? "can be played" : "cannot be played")
        try player.replaceCurrentItem(with: nil)
    }
}

let loader = ResourceLoader(SchemeTransport(http: HTTPTransport(), file: FileTransport()))
let list = StreamList(streams: ["Film": source])
let persistence = try StreamPersistence(folder: folder, loader: loader)
print("pending:", persistence.session.tasks.map(list.name))
let location = try await persistence.download("Film", at: source)
try await persistence.addRemainingMedia(of: source, at: location)
let playback = StreamPlayback()
try await playback.play(Asset(filePath: folder.appendingPathComponent(location).path))
try persistence.delete(location)
print("stored:", try persistence.library.assets().count)

// Download a stream and follow its progress

let library = try AssetLibrary(directory: folder)
let session = try DownloadSession(identifier: "series", library: library, loader: loader)
let task = try await session.makeTask(source)
task.resume()
for await event in task.events {
    if case .loaded(_, let progress) = event { print(progress.percent) }
}
let asset = try await task.value()

// Play a stream while it is downloaded

let item = PlayerItem(asset: Asset(sharing: task))
print(asset.title, item.status)

// Record a stream until it ends

try library.delete(asset.id)

var configuration = DownloadConfiguration()
configuration.recording = RecordingOptions(duration: MediaTime(seconds: 5_400), waitsForStream: true)
let recording = try await session.makeTask(source, configuration: configuration)
recording.resume()
print("recorded:", try await recording.value().state)
