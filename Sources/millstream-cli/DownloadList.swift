import ArgumentParser
import Foundation

/// The options for the download of several sources.
struct DownloadListFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Download the URLs in a file, or in standard input if it is -: one in each line, optionally followed by a space and \
            a title; lines that begin with # are ignored.
            """,
            valueName: "file"
        )
    )
    var list: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Skip the URLs in a file, and add those that are downloaded to it; the file is created if it is missing.",
            valueName: "file"
        )
    )
    var archive: String?
}

/// A file with the sources of downloads.
enum DownloadList {
    /// A source of a list.
    struct Source: Hashable {
        let address: String
        let title: String?
    }

    /// The maximum size of a list in bytes.
    private static let maximumSize = 16 << 20

    /// Reads a list.
    ///
    /// - Returns: The sources, each of them once.
    /// - Throws: ``Failure`` if the file cannot be read or has no sources.
    static func sources(at path: String) throws -> [Source] {
        let data: Data
        if path == "-" {
            data = try InputFile.standardInput()
        } else {
            guard let contents = try? InputFile.contents(path, limit: maximumSize) else {
                throw Failure(.failed, "file-failed", "\(path) cannot be read")
            }
            data = contents
        }
        guard data.count <= maximumSize else {
            throw Failure(.badInput, "invalid-list", "\(path) is larger than 16 MiB")
        }
        let sources = sources(in: String(decoding: data, as: UTF8.self))
        guard !sources.isEmpty else { throw Failure(.badInput, "invalid-list", "\(path) contains no URLs") }
        return sources
    }

    static func sources(in text: String) -> [Source] {
        var known: Set<String> = []
        return text.split(whereSeparator: \.isNewline).compactMap { line in
            let words = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
            guard let address = words.first.map(String.init), !address.hasPrefix("#"), known.insert(address).inserted
            else { return nil }
            let title = words.count > 1 ? words[1].trimmingCharacters(in: .whitespaces) : ""
            return Source(address: address, title: title.isEmpty ? nil : title)
        }
    }
}

/// A file with the sources that are downloaded already, so that they are not downloaded again.
final class DownloadArchive {
    private let path: String
    private var addresses: Set<String>
    /// A Boolean value that indicates whether the last line of the file has no line ending.
    private var endsWithinLine = false

    /// The maximum size of an archive in bytes.
    private static let maximumSize = 256 << 20

    /// Creates an archive from a file; it is empty if the file does not exist.
    ///
    /// - Throws: ``Failure`` if the file cannot be read.
    init(_ path: String) throws {
        self.path = path
        addresses = []
        guard FileManager.default.fileExists(atPath: path) else { return }
        guard let data = try? InputFile.contents(path, limit: Self.maximumSize) else {
            throw Failure(.failed, "file-failed", "\(path) cannot be read")
        }
        guard data.count <= Self.maximumSize else {
            throw Failure(.badInput, "invalid-list", "\(path) is larger than 256 MiB")
        }
        let text = String(decoding: data, as: UTF8.self)
        addresses = Set(text.split(whereSeparator: \.isNewline).map(String.init))
        endsWithinLine = text.last.map { !$0.isNewline } ?? false
    }

    func contains(_ address: String) -> Bool { addresses.contains(address) }

    /// Adds a line to the file, which is readable by its owner only, because URLs can contain secrets.
    ///
    /// - Throws: ``Failure`` if the file cannot be written.
    func add(_ address: String) throws {
        guard addresses.insert(address).inserted else { return }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure(writing: path, POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO), code: "file-failed")
        }
        let file = Foundation.FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: Data("\(endsWithinLine ? "\n" : "")\(address)\n".utf8))
            endsWithinLine = false
            try file.synchronize()
        } catch {
            throw Failure(writing: path, error, code: "file-failed")
        }
    }
}
