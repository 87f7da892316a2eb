import ArgumentParser
import Foundation
import MediaTiming

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
///
/// Several programs can use the same file at the same time.
final class DownloadArchive {
    private let path: String
    private var addresses: Set<String> = []
    /// The size of the part of the file that was read, which ends with a line.
    private var readSize: UInt64 = 0

    /// The maximum size of an archive in bytes.
    private static let maximumSize: UInt64 = 256 << 20

    /// Creates an archive from a file; it is empty if the file does not exist.
    ///
    /// - Throws: ``Failure`` if the file cannot be read.
    init(_ path: String) throws {
        self.path = path
        try update()
    }

    /// Returns a Boolean value that indicates whether a source is in the file, also if another program has added it.
    ///
    /// - Throws: ``Failure`` if the file cannot be read.
    func contains(_ address: String) throws -> Bool {
        if addresses.contains(address) { return true }
        try update()
        return addresses.contains(address)
    }

    /// Reads the lines that are new in the file.
    private func update() throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return }
        guard !isFolder.boolValue, let file = Foundation.FileHandle(forReadingAtPath: path) else {
            throw Failure(.failed, "file-failed", "\(path) cannot be read")
        }
        _ = try read(file)
    }

    /// Reads the lines that are new in the file.
    ///
    /// - Returns: A Boolean value that indicates whether the last line of the file has no line ending.
    private func read(_ file: Foundation.FileHandle) throws -> Bool {
        do {
            let size = try file.seekToEnd()
            guard size <= Self.maximumSize else {
                throw Failure(.badInput, "invalid-list", "\(path) is larger than 256 MiB")
            }
            // A file that became shorter is another one.
            if size < readSize { readSize = 0 }
            guard size > readSize else { return false }
            try file.seek(toOffset: readSize)
            let data = try file.read(upToCount: Int(clamping: size -| readSize)) ?? Data()
            var text = String(decoding: data, as: UTF8.self)[...]
            // Some editors write a byte order mark at the start of a file.
            if readSize == 0, text.first == "\u{FEFF}" { text.removeFirst() }
            addresses.formUnion(text.split(whereSeparator: \.isNewline).map(String.init))
            guard let end = data.lastIndex(of: UInt8(ascii: "\n")) else { return !data.isEmpty }
            // The rest of the last line may still be written.
            readSize +|= UInt64(clamping: data.distance(from: data.startIndex, to: end)) +| 1
            return data.index(after: end) != data.endIndex
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.failed, "file-failed", "\(path) cannot be read")
        }
    }

    /// Adds a line to the file, which is readable by its owner only, because URLs can contain secrets, unless another program has
    /// added it.
    ///
    /// - Throws: ``Failure`` if the file cannot be written.
    func add(_ address: String) throws {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure(writing: path, POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO), code: "file-failed")
        }
        let file = Foundation.FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // Other programs wait before they add a line; the lock ends with the descriptor. Without locks, it is written as well.
        _ = flock(descriptor, LOCK_EX)
        let endsWithinLine = try read(file)
        guard addresses.insert(address).inserted else { return }
        do {
            try file.write(contentsOf: Data("\(endsWithinLine ? "\n" : "")\(address)\n".utf8))
            try file.synchronize()
        } catch {
            throw Failure(writing: path, error, code: "file-failed")
        }
    }
}
