import AssetStorage

/// File operations that are those of the system where a test does not replace them, without flushing anything to the disk.
protocol ForwardedFiles: FileOperations {
    /// The operations that perform what is not replaced.
    var system: SystemFileOperations { get }
}

extension ForwardedFiles {
    var bootIdentifier: String? { system.bootIdentifier }

    func makeFolder(_ path: String) throws(FileFailure) { try system.makeFolder(path) }
    func createFile(_ path: String) throws(FileFailure) -> CInt { try system.createFile(path) }
    func openFile(_ path: String, truncatedTo length: Int64) throws(FileFailure) -> CInt {
        try system.openFile(path, truncatedTo: length)
    }
    func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) throws(FileFailure) {
        try system.write(bytes, to: descriptor)
    }
    func synchronizeFile(_ descriptor: CInt) throws(FileFailure) {}
    func closeFile(_ descriptor: CInt) { system.closeFile(descriptor) }
    func rename(_ path: String, to newPath: String) throws(FileFailure) { try system.rename(path, to: newPath) }
    func link(_ path: String, to newPath: String) throws(FileFailure) { try system.link(path, to: newPath) }
    func removeFile(_ path: String) throws(FileFailure) { try system.removeFile(path) }
    func removeFolder(_ path: String) throws(FileFailure) { try system.removeFolder(path) }
    func synchronizeFolder(_ path: String) throws(FileFailure) {}
    func freeSpace(at path: String) -> Int64? { system.freeSpace(at: path) }
    func waitForLock() { system.waitForLock() }
    func catalogDidCommit() {}
}
