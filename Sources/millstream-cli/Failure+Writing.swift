import AssetStorage
import Foundation
import MediaTransport
import ResourceAddressing

/// The failures to write files and folders; those for a full disk have the same code and hint in all commands.
extension Failure {
    /// The code of a failure because the disk or the quota of the user is full.
    static let fullDiskCode = StorageError.Code.full.rawValue
    /// The advice for a full disk.
    static let fullDiskHint = "free some space, then run the same command again"

    /// Creates the failure for a file or a folder that cannot be written.
    ///
    /// - Parameters:
    ///   - path: The path of the file or the folder.
    ///   - error: The error of the system, of Foundation or of an output.
    ///   - code: The code, unless the disk is full.
    init(writing path: String, _ error: any Error, code: String = "disk-failed") {
        self.init("\(path) cannot be written (\(Self.reason(of: error)))", writing: error, code: code)
    }

    /// Creates the failure for something that cannot be written, with a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - error: The error of the system, of Foundation or of an output.
    ///   - code: The code, unless the disk is full.
    init(_ message: String, writing error: any Error, code: String) {
        let isFull = (error as? OutputError)?.isFullDisk ?? Self.isFullDisk(error)
        self.init(.failed, isFull ? Self.fullDiskCode : code, message, hint: isFull ? Self.fullDiskHint : nil)
    }

    /// Returns a Boolean value that indicates whether a full disk caused an error, in whatever layer it was found.
    static func isFullDisk(_ error: any Error) -> Bool {
        var current: (any Error)? = error
        while let error = current {
            if FileErrorText.isFull(error) { return true }
            guard let known = error as? any MillstreamError else { return false }
            if known.code.rawValue == fullDiskCode { return true }
            current = known.cause
        }
        return false
    }

    private static func reason(of error: any Error) -> String {
        (error as? OutputError)?.reason ?? FileErrorText.reason(of: error)
    }
}

extension OutputError {
    /// A Boolean value that indicates whether the disk or the quota of the user is full.
    fileprivate var isFullDisk: Bool { FileErrorText.isFull(errorNumber: number) }
}
