import Foundation
import GRDB

extension AssetLibrary {
    /// The names of the files of a package that do not belong to a rendition.
    private static let ownNames: Set = [PackageLock.fileName, ReceptionClaims.fileName, multivariantName]

    /// Removes files that the catalog does not need: unfinished files of resources that are already stored, and files of
    /// renditions that are no longer planned.
    ///
    /// The caller must hold the lock of the asset.
    func removeUnreferencedFiles(_ id: String) throws {
        for path in try unreferencedFiles(id) {
            // A directory inside the directory of a rendition was made by another program, and is not removed.
            if path.contains("/") {
                try? files.removeFile("\(packagePath(id))/\(path)")
            } else {
                removeItem(path, of: id)
            }
        }
    }

    /// Removes the files of a package that do not belong to its asset, such as those that another program has put there.
    ///
    /// - Returns: Their paths relative to the package.
    /// - Throws: ``StorageError/Code/busy`` while the asset is being downloaded.
    @discardableResult
    public func removeUnknownFiles(_ id: String) throws -> [String] {
        let lock = try lock(id)
        defer { withExtendedLifetime(lock) {} }
        let unknown = try unreferencedFiles(id)
        for path in unknown { removeItem(path, of: id) }
        let usage = DiskUsage(of: packageDirectory(id))
        if !unknown.isEmpty { try write { try Self.saveSummary(of: id, usage, $0) } }
        return unknown
    }

    /// Removes a file or a directory of a package, which may have been removed already.
    private func removeItem(_ path: String, of id: String) {
        let path = "\(packagePath(id))/\(path)"
        if FileInspection.isFolder(path) { try? files.removeTree(path) } else { try? files.removeFile(path) }
    }

    /// Returns the paths, relative to the package, of files and directories that are not in the catalog.
    func unreferencedFiles(_ id: String) throws -> [String] {
        let package = packagePath(id)
        var found: [String] = []
        func names(in folder: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        }
        let folders = try catalog.read { database in Set(try Self.folders(id, database).values) }
        for name in names(in: package) where !Self.ownNames.contains(name) {
            let path = "\(package)/\(name)"
            guard folders.contains(name), FileInspection.isFolder(path) else {
                found.append(name)
                continue
            }
            let unknown = try catalog.read { database in
                let statement = try database.makeStatement(
                    sql: "SELECT bytes IS NOT NULL FROM resource WHERE assetID = ? AND path = ?"
                )
                return try names(in: path).filter { file in
                    guard file != Self.mediaName else { return false }
                    // An unfinished file and its note are needed until the file is stored.
                    let unfinished = [PackageFile.partialExtension, UnfinishedFile.fileExtension]
                        .first { file.hasSuffix($0) }
                    let stored = unfinished.map { "\(file.dropLast($0.count))" } ?? file
                    let arguments: StatementArguments = [id, "\(name)/\(stored)"]
                    guard let row = try Row.fetchOne(statement, arguments: arguments) else { return true }
                    let isStored: Bool = row[0]
                    guard isStored == (unfinished != nil) else { return false }
                    // A player that has received the file may not have entered it in the catalog yet.
                    return unfinished != nil || !isBeingReceived("\(name)/\(file)", id)
                }
            }
            found += unknown.map { "\(name)/\($0)" }
        }
        return found.sorted()
    }
}
