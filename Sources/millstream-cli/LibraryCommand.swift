import ArgumentParser
import AssetStorage
import Foundation
import MediaTiming
import ReportFormat
import ResourceAddressing

/// The command `millstream library`.
struct LibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "library",
        abstract: "Show and tidy what is kept.",
        discussion: "Example: millstream library list",
        subcommands: [
            ListCommand.self, ShowCommand.self, VerifyCommand.self, ExportCommand.self, DeleteCommand.self,
            PathCommand.self,
        ],
        defaultSubcommand: ListCommand.self
    )

    struct ListCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List what is kept.",
            discussion: "Example: millstream library list --json"
        )

        @OptionGroup var library: LibraryFlags
        @Flag(name: .long, help: "Print JSON.") var json = false

        func run() async throws {
            let assets = try library.open().assets()
            if json {
                try StandardOutput.writeLine(ReportValue.array(assets.map(\.report)))
                return
            }
            guard !assets.isEmpty else {
                StandardError.write("nothing is kept yet: millstream download ADDRESS\n")
                return
            }
            for asset in assets {
                let state = asset.state == .complete ? "complete" : "\(Int(saturating: asset.percent)) %"
                try StandardOutput.writeLine(
                    "\(asset.id)  \(state)  \(asset.bytes)  \(asset.duration ?? .zero) s  \(asset.title)"
                )
            }
            let total = assets.map(\.bytes).reduce(.zero, +)
            try StandardOutput.writeLine("\(assets.count) kept, \(total)")
        }
    }

    struct ShowCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show one asset.",
            discussion: "Example: millstream library show abc123"
        )

        @Argument(help: "The asset's identifier.") var id: String
        @OptionGroup var library: LibraryFlags
        @Flag(name: .long, help: "Print JSON.") var json = false

        func run() async throws {
            let asset = try library.open().asset(id)
            if json { return try StandardOutput.writeLine(asset.report) }
            try StandardOutput.writeLine("\(asset.title)")
            try StandardOutput.writeLine("from       \(asset.source)")
            try StandardOutput.writeLine(
                "state      \(asset.state.rawValue)\(asset.isPlayableOffline ? ", playable offline" : "")"
            )
            try StandardOutput.writeLine("duration   \(asset.duration.map { "\($0) s" } ?? "unknown")")
            try StandardOutput.writeLine("size       \(asset.bytes)")
            for rendition in asset.renditions {
                let parts = [
                    rendition.height.map { "\($0)p" }, rendition.bandwidth?.description, rendition.language,
                    rendition.isComplete ? "complete" : "\(rendition.loadedTimeRanges.totalDuration) s there",
                ]
                let name = rendition.role.rawValue
                try StandardOutput.writeLine(
                    "\(name)\(TerminalText.spaces(11 - name.count))\(parts.compactMap { $0 }.joined(separator: ", "))"
                )
            }
        }
    }

    struct VerifyCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Find files that are gone or not what they were.",
            discussion: """
                What is lost counts as missing from then on; download the asset again to fetch it.

                Example: millstream library verify abc123
                """
        )

        @Argument(help: "Assets; all where none is named.") var ids: [String] = []
        @OptionGroup var library: LibraryFlags
        @Flag(name: .long, help: "Print JSON.") var json = false

        func run() async throws {
            let library = try library.open()
            var lost: [(String, [String])] = []
            for id in try ids.isEmpty ? library.assets().map(\.id) : ids {
                lost.append((id, try library.forgetLostFiles(id)))
            }
            if json {
                try StandardOutput.writeLine(
                    ReportValue.array(
                        lost.map { .fields(["id": .string($0.0), "lost": .strings($0.1)]) }
                    )
                )
            } else {
                for (id, paths) in lost {
                    try StandardOutput.writeLine("\(id)  \(paths.isEmpty ? "sound" : "\(paths.count) files lost")")
                    for path in paths { try StandardOutput.writeLine("  \(path)") }
                }
            }
            guard lost.allSatisfy(\.1.isEmpty) else {
                throw Failure(
                    .failed,
                    "package-damaged",
                    "files are lost",
                    hint: "download the asset again to fetch them"
                )
            }
        }
    }

    struct ExportCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Copy an asset into a plain folder that any server can serve.",
            discussion: "Example: millstream library export abc123 /srv/www/film"
        )

        @Argument(help: "The asset's identifier.") var id: String
        @Argument(help: "The folder to make.") var folder: String
        @OptionGroup var library: LibraryFlags

        func run() async throws {
            try library.open().export(id, to: URL(fileURLWithPath: folder))
            try StandardOutput.writeLine(
                path: URL(fileURLWithPath: folder).appendingPathComponent("multivariant.m3u8").path
            )
        }
    }

    struct DeleteCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Remove assets with all their bytes.",
            discussion: "Example: millstream library delete abc123"
        )

        @Argument(help: "The assets' identifiers.") var ids: [String]
        @OptionGroup var library: LibraryFlags

        func run() async throws {
            let library = try library.open()
            for id in ids {
                _ = try library.asset(id)
                try library.delete(id)
            }
        }
    }

    struct PathCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "path",
            abstract: "Print where an asset lies, or the library itself.",
            discussion: "Example: millstream library path abc123"
        )

        @Argument(help: "The asset's identifier.") var id: String?
        @OptionGroup var library: LibraryFlags

        func run() async throws {
            let library = try library.open()
            guard let id else { return try StandardOutput.writeLine(path: library.directory.path) }
            try StandardOutput.writeLine(path: library.packageDirectory(try library.asset(id).id).path)
        }
    }
}
