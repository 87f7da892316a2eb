import Foundation
import MediaTransport
import Testing

@Suite struct FileErrorTextTests {
    /// Returns an error of Foundation that a failed system call caused.
    private static func caused(by number: Int32) -> NSError {
        let cause = NSError(domain: NSPOSIXErrorDomain, code: Int(number))
        return NSError(
            domain: NSCocoaErrorDomain,
            code: CocoaError.Code.fileWriteUnknown.rawValue,
            userInfo: [NSUnderlyingErrorKey: cause]
        )
    }

    @Test(
        arguments: [
            (POSIXError(.ENOSPC), true), (POSIXError(.EDQUOT), true), (POSIXError(.EIO), false),
            (CocoaError(.fileWriteOutOfSpace), true), (CocoaError(.fileWriteNoPermission), false),
            (caused(by: ENOSPC), true), (caused(by: EACCES), false),
            (CancellationError(), false),
        ] as [(any Error, Bool)]
    )
    func errorsOfAFullDiskAreRecognized(error: any Error, isFull: Bool) {
        #expect(FileErrorText.isFull(error) == isFull, "\(error)")
    }

    @Test func reasonIsThatOfTheSystem() {
        #expect(FileErrorText.reason(of: POSIXError(.ENOSPC)) == String(cString: strerror(ENOSPC)))
        #expect(FileErrorText.reason(of: CocoaError(.fileWriteOutOfSpace)) == "No space left on device")
        #expect(FileErrorText.reason(of: CancellationError()) == "the reason is unknown")
    }
}
