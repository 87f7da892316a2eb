import Foundation

/// The destination of the bytes that are written to a path, after all symbolic links.
enum OutputTarget {
    /// A regular file that exists or can be created.
    case file(URL)
    /// A descriptor that was opened for the program, such as standard output; other programs may share it.
    case descriptor(Int32)
    /// A pipe, a device or another file that cannot be replaced.
    case special(String)

    /// The number of links that are followed, as in Linux.
    private static let maximumLinkCount = 40

    /// Creates the target of a path by following its links.
    ///
    /// - Parameter url: The location; nothing has to exist there.
    init(_ url: URL) { self = Self.target(of: url.absoluteURL.path) }

    private static func target(of start: String) -> OutputTarget {
        var path = start
        for _ in 0..<maximumLinkCount {
            let name = (path as NSString).lastPathComponent
            // Without its folder there is nothing at the path.
            guard let folder = realPath((path as NSString).deletingLastPathComponent) else {
                return .file(URL(fileURLWithPath: path))
            }
            // The links there lead to what the shell has opened, which must be neither opened again nor replaced.
            if isDescriptorFolder(folder), let number = Int32(name) { return .descriptor(number) }
            path = (folder as NSString).appendingPathComponent(name)
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard let kind = attributes?[.type] as? FileAttributeType, kind != .typeRegular, kind != .typeDirectory
            else { return .file(URL(fileURLWithPath: path)) }
            // Other links in /proc do not always contain a path: "pipe:[1]", "/file (deleted)".
            guard kind == .typeSymbolicLink, !folder.hasPrefix("/proc/"),
                let text = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
            else { return .special(path) }
            path = text.hasPrefix("/") ? text : (folder as NSString).appendingPathComponent(text)
        }
        // The links form a loop, which opening the path reports.
        return .special(start)
    }

    /// Returns a Boolean value that indicates whether a folder, without links, has the descriptors of this program.
    private static func isDescriptorFolder(_ folder: String) -> Bool {
        ["/proc/self/fd", "/dev/fd"].contains { realPath($0) == folder }
    }

    /// Returns a path without links; `nil` if nothing exists there.
    private static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}
