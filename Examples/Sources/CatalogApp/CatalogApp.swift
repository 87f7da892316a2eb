import Foundation
import Millstream

// An application with a catalog of streams that can be played and downloaded, divided as Apple's sample is: a list, persistence
// and playback.
//
// Usage: CatalogApp CATALOG [FOLDER [list | download NAME | play NAME | cancel NAME | delete NAME | resume]]
//
// CATALOG is a property list such as Streams.plist of the samples that Scripts/make-samples makes. FOLDER is where the
// application stores its data. Without FOLDER, the whole workflow runs once in a temporary folder.

@main struct CatalogApp {
    let list: AssetListManager
    let persistence: AssetPersistenceManager

    @MainActor static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let catalog = arguments.first else {
            print(
                "usage: CatalogApp CATALOG [FOLDER [list | download NAME | play NAME | cancel NAME | delete NAME | resume]]"
            )
            exit(64)
        }
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent("catalog-\(UUID())")
        defer { try? FileManager.default.removeItem(at: temporary) }
        let folder = arguments.dropFirst().first.map { URL(fileURLWithPath: $0) } ?? temporary
        let app = CatalogApp(
            list: try AssetListManager(contentsOf: URL(fileURLWithPath: catalog)),
            persistence: try AssetPersistenceManager(folder: folder)
        )
        if arguments.count < 2 {
            try await app.runWorkflow()
        } else {
            try await app.run(arguments.count > 2 ? arguments[2] : "list", arguments.count > 3 ? arguments[3] : nil)
        }
        await app.persistence.close()
    }

    /// Runs one command, as a tap on a row does.
    @MainActor private func run(_ command: String, _ name: String?) async throws {
        switch (command, name.flatMap { list.stream(named: $0) }) {
        case ("list", _): printRows()
        case ("resume", _): try await persistence.restore(progress: show)
        case ("download", let stream?): try await persistence.download(stream, progress: show)
        case ("play", let stream?): try await play(stream)
        case ("cancel", let stream?): persistence.cancel(stream)
        case ("delete", let stream?): try persistence.delete(stream)
        default:
            print("there is no such command or stream")
            exit(64)
        }
    }

    /// Runs all actions that a user of the application can perform with a stream.
    @MainActor private func runWorkflow() async throws {
        print("pending downloads of an earlier run: \(persistence.pendingNames)")
        printRows()
        guard let stream = list.streams.first(where: { $0.url.path.contains("fmp4") }) ?? list.streams.first else {
            return
        }
        try await persistence.download(stream, progress: show)
        printRows()
        try await play(stream)
        try persistence.delete(stream)
        try persistence.delete(stream)
        printRows()
    }

    /// Plays the downloaded asset of a stream, or streams it.
    @MainActor private func play(_ stream: Stream) async throws {
        let stored = persistence.asset(for: stream)
        print("\(stream.name): \(stored == nil ? "streamed" : "played offline")")
        try await AssetPlaybackManager().play(stored ?? Asset(url: stream.url), upTo: MediaTime(seconds: 2))
    }

    private func printRows() {
        for row in list.rows(persistence) {
            print("\(row.state.rawValue)  \(row.stream.name)  [play] [\(row.action)]")
        }
    }

    private func show(_ selection: String, _ percent: Double) {
        if percent == 100 { print("  \(selection): stored") }
    }
}
