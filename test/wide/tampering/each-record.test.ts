import { tampering } from '../../audit/tampering-recorded.js';

tampering(1);
