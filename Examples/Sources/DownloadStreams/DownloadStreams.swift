import Foundation
import MediaTransport
import Millstream
import MillstreamDownloads

// The code of the article of MillstreamDownloads; CatalogApp is a whole application.
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

let loader = ResourceLoader(SchemeTransport(http: HTTPTransport(), file: FileTransport()))

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
