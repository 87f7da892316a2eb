import ArgumentParser
import AssetStorage
import Foundation
import ReportFormat

/// The option for the library of a command.
struct LibraryFlags: ParsableArguments {
    @Option(
        name: .long,
        help: "The folder of the library (default: $MILLSTREAM_LIBRARY, otherwise the data folder of the platform)."
    )
    var library: String?

    /// The folder of the library, whether it exists or not.
    var directory: URL {
        (library.map { URL(fileURLWithPath: $0) } ?? AssetLibrary.defaultDirectory).standardizedFileURL
    }

    /// The folder of the library if the user named it; `nil` for the default one, which need not exist.
    var namedDirectory: URL? {
        library != nil || ProcessInfo.processInfo.environment["MILLSTREAM_LIBRARY"]?.isEmpty == false ? directory : nil
    }

    /// A Boolean value that indicates whether the library has packages, but no catalog.
    var lacksCatalog: Bool { AssetLibrary.lacksCatalog(directory) }

    /// Opens the library; creates it if it does not exist.
    func open() throws -> AssetLibrary {
        let library = try AssetLibrary(directory: directory)
        if let packages = library.packagesWithoutEntry {
            StandardError.write(
                """
                note: packages without an entry in the catalog are kept in \(packages.path)
                note: add each complete one with: millstream library add '\(packages.path)/NAME'
                note: afterward the folder can be removed\n
                """
            )
        }
        return library
    }

    /// Opens the library for a server; one that cannot be changed, such as on a read-only disk, is opened for reading.
    ///
    /// - Returns: The library.
    /// - Throws: `StorageError` for other failures, such as a full disk, which may pass.
    func openForServing() throws -> AssetLibrary {
        do {
            return try open()
        } catch {
            // A library that cannot be read either is damaged, or that of a newer version.
            guard !canBeWritten, let reader = try? AssetLibrary(reading: directory), (try? reader.assets()) != nil
            else { throw error }
            let message = (error as? StorageError)?.message ?? "the library \(directory.path) cannot be changed"
            StandardError.write(
                """
                note: \(message)
                note: what is stored in it is served, and downloads are refused\n
                """
            )
            return reader
        }
    }

    /// A Boolean value that indicates whether this process may write the folder of the library and the files of its catalog.
    private var canBeWritten: Bool {
        let files = FileManager.default
        guard files.isWritableFile(atPath: directory.path) else { return false }
        let names = (try? files.contentsOfDirectory(atPath: directory.path)) ?? []
        let paths = names.filter { $0.contains(".sqlite") }.map { directory.appendingPathComponent($0).path }
        return paths.allSatisfy { files.isWritableFile(atPath: $0) }
    }

    /// Opens the library without modifying it, so that it can be on a read-only file system.
    ///
    /// - Returns: The library; `nil` if nothing has been stored in its folder.
    /// - Throws: `StorageError` if the folder cannot be used as a library.
    func openForReading() throws -> AssetLibrary? {
        try verifyPermission()
        do {
            return try AssetLibrary(reading: directory)
        } catch {
            if lacksCatalog { throw Self.catalogIsLost(directory) }
            var isDirectory: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: directory.path, isDirectory: &isDirectory)
            // A folder without a catalog is an empty library, but not one whose content cannot be listed.
            if exists, !isDirectory.boolValue || !FileManager.default.isExecutableFile(atPath: directory.path) {
                throw error
            }
            return nil
        }
    }

    /// Opens the library to list its assets, and stores the summaries of assets that have none, so that the next
    /// listing takes less time.
    ///
    /// - Returns: The library; `nil` if nothing has been stored in its folder.
    /// - Throws: `StorageError` if the folder cannot be used as a library.
    func openForListing() throws -> AssetLibrary? {
        guard let library = try openForReading() else { return nil }
        // A library that cannot be changed is listed from the rows of its files.
        if try library.lacksSummaries, let writer = try? open() {
            try? writer.storeMissingSummaries()
            try? writer.close()
        }
        return library
    }

    /// Opens the library without modifying it.
    ///
    /// - Throws: `StorageError` if there is no library, or if it cannot be read.
    func openExisting() throws -> AssetLibrary {
        try verifyPermission()
        if lacksCatalog { throw Self.catalogIsLost(directory) }
        return try AssetLibrary(reading: directory)
    }

    /// Opens the library to change its assets.
    ///
    /// - Throws: `StorageError` if there is no library.
    func openForWriting() throws -> AssetLibrary {
        if !lacksCatalog { _ = try openExisting() }
        return try open()
    }

    /// Verifies that permissions do not prevent that the library is read.
    private func verifyPermission() throws {
        if let error = AssetLibrary.permissionError(for: directory) { throw error }
    }

    private static func catalogIsLost(_ directory: URL) -> Failure {
        Failure(
            .failed,
            "library-failed",
            "the library \(directory.path) has packages, but its catalog is lost",
            hint: "millstream library verify makes a new catalog and keeps the packages in the folder recovered"
        )
    }
}
