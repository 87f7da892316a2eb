import Foundation

/// System files with which tests provoke errors.
enum DeviceFiles {
    /// A Boolean value that indicates whether there is a device that behaves like a full disk.
    static let hasFullDisk = FileManager.default.fileExists(atPath: "/dev/full")
}
